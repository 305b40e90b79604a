#!/usr/bin/env bash
# Runs the integration tests on several servers with one and the same module.
#
#   scripts/test-servers.sh [NAME...]    the names of `scripts/servers.sh --list`; without one, all of them
#
# SLIDEWIN_MODULE is the module to test, else it is built; SLIDEWIN_LONG=1 runs what takes long in full.
# The last line is `N passed, N failed`; the exit code is 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

if (($#)); then names=("$@"); else mapfile -t names < <(scripts/servers.sh --list); fi
if [[ ! ${SLIDEWIN_MODULE-} ]]; then
    "$cargo" build --release --locked --quiet
    SLIDEWIN_MODULE=${CARGO_TARGET_DIR:-$PWD/target}/release/libslidewin.so
fi
export SLIDEWIN_MODULE
mapfile -t servers < <(scripts/servers.sh "${names[@]}")
((${#servers[@]} == ${#names[@]})) || exit 1 # it has said why
"$cargo" test --locked --quiet --test server --no-run

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 failed_on=()
for nth in "${!names[@]}"; do
    printf '\n=== %s: %s\n' "${names[nth]}" "$("${servers[nth]}" --version)"
    SECONDS=0
    # With --nocapture a test can say that this server cannot run it, and why.
    status=0
    REDIS_SERVER=${servers[nth]} "$cargo" test --locked --quiet --test server -- --nocapture >"$log" 2>&1 ||
        status=$?
    grep -oE 'not run: .*|^test result: .*' "$log" || true
    if ((status)); then
        cat "$log" >&2
        failed_on+=("${names[nth]}")
    fi
    read -r of_server_passed of_server_failed < <(
        awk '/^test result:/ { passed += $4; failed += $6 } END { print passed + 0, failed + 0 }' "$log"
    )
    passed=$((passed + of_server_passed)) failed=$((failed + of_server_failed))
    echo "${SECONDS} s"
done

echo
((${#failed_on[@]} == 0)) || echo "failed on: ${failed_on[*]}"
echo "$passed passed, $failed failed"
((${#failed_on[@]} == 0))
