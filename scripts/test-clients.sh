#!/usr/bin/env bash
# Tests the module through the clients that people use, with real servers: tests/clients/.
#
#   scripts/test-clients.sh [ARGUMENT...]    arguments for pytest; installs below target/clients/ what it needs
#
# SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the server, else `redis-server`.
# The last line is pytest's; the exit code is 0 if some tests ran and none failed.
set -euo pipefail

# shellcheck source=tests/clients/install.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tests/clients/install.sh"
clients=$root/tests/clients

python_packages python redis==8.1.0 pytest==9.0.2
sets=(node-18)
node_packages node-18 redis@5.9.0 ioredis@5.9.2 # the last that run on Node.js 18, Debian 12's
if (($(node -p 'parseInt(process.versions.node)') >= 20)); then
    node_packages node-20 redis@6.3.1 ioredis@6.0.0
    sets+=(node-20)
fi
# A module is looked for beside the file that imports it.
for set in "${sets[@]}"; do cp "$clients"/*.mjs "$clients/table.json" "$installed/$set/"; done
cargo test --quiet --locked --no-run --manifest-path "$clients/rust/Cargo.toml" --target-dir "$installed/rust"
flock -u 9

run_pytest python "$clients" "$@"
