#!/usr/bin/env bash
# Tests what docs/ says to do, on stock servers: each row of its tables and each recipe.
#
#   tests/docs/test.sh [pytest's arguments]    installs below target/clients/ what it needs
#
# SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the server of the tests that need only one.
set -euo pipefail

# shellcheck source=tests/clients/install.sh
source "$(dirname "${BASH_SOURCE[0]}")/../clients/install.sh"
python_packages docs pytest==9.0.2 redis==8.1.0
for name in $("$root/scripts/servers.sh" --list); do
    "$root/scripts/servers.sh" "$name" >/dev/null
done
flock -u 9
exec "$installed/docs/bin/python" -m pytest --quiet -p no:cacheprovider "$@" "$root/tests/docs"
