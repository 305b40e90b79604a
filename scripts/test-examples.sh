#!/usr/bin/env bash
# Tests the Flask example: the shop over HTTP while Redis is killed, restarted and frozen, and the live page in Chromium.
#
#   scripts/test-examples.sh [SCREENSHOT]    the live page's picture, else target/clients/live.png
#
# Installs below target/clients/ what it needs. SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the
# server, else `redis-server`. The last line is pytest's; the exit code is 0 if some tests ran and none failed.
set -euo pipefail

# shellcheck source=tests/clients/install.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tests/clients/install.sh"
examples=$root/examples
export SCREENSHOT=${1:-$installed/live.png}

mapfile -t requirements <"$examples/flask/requirements.txt"
python_packages flask "${requirements[@]}" -e "$root/clients/python" selenium==4.40.0 pytest==9.0.2
"$root/scripts/setup.sh" browser
CHROMIUM=$(command -v chromium)
CHROMEDRIVER=$(command -v chromedriver)
export CHROMIUM CHROMEDRIVER
flock -u 9

run_pytest flask "$examples"
