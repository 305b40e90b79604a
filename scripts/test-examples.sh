#!/usr/bin/env bash
# Tests the examples: both shops over HTTP while Redis is killed, restarted and frozen, and the live page in Chromium.
#
#   scripts/test-examples.sh [SCREENSHOT]    the live page's picture, else target/clients/live.png
#
# Installs below target/clients/ what it needs. SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the
# server, else `redis-server`. The last line is `N passed, N failed`; the exit code is 0 if nothing failed.
set -euo pipefail

# shellcheck source=tests/clients/install.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tests/clients/install.sh"
examples=$root/examples
screenshot=${1:-$installed/live.png}

mapfile -t requirements <"$examples/flask/requirements.txt"
python_packages flask "${requirements[@]}" -e "$root/clients/python" selenium==4.40.0
need node nodejs npm
mapfile -t dependencies < <(node -p '
    Object.entries(require(process.argv[1]).dependencies).map((pair) => pair.join("@")).join("\n")' \
    "$examples/express/package.json")
node_packages express "${dependencies[@]}"
cp "$examples"/express/*.mjs "$installed/express/"
need chromium chromium chromium-driver
need chromedriver chromium-driver
CHROMIUM=$(command -v chromium)
CHROMEDRIVER=$(command -v chromedriver)
export CHROMIUM CHROMEDRIVER
flock -u 9

passed=0 failed=0
# run COMMAND...: its lines but the last, `N passed, N failed`, whose numbers are added up.
run() {
    local lines code=0 ours=0 theirs=0
    lines=$("$@") || code=$?
    read -r ours theirs < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' <<<"$lines") || true
    if ((code != 0 && theirs == 0)) || ((ours == 0)); then
        echo "FAILED: exit code $code of $*"
        theirs=$((theirs + 1))
    fi
    sed -E '$s/^([0-9]+ passed, [0-9]+ failed)$/all: \1/' <<<"$lines"
    passed=$((passed + ours)) failed=$((failed + theirs))
}

python=$installed/flask/bin/python
run "$python" "$examples/test_shops.py" Flask "$python" "$examples/flask/shop.py" -- \
    Express node "$installed/express/shop.mjs"
run "$python" "$examples/test_live.py" "$screenshot" "$python" "$examples/flask/shop.py"
echo "$passed passed, $failed failed"
((failed == 0))
