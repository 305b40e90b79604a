#!/usr/bin/env bash
# Tests the module through the clients that people use, with real servers: tests/clients/.
#
#   scripts/test-clients.sh    installs below target/clients/ what it needs
#
# SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the server, else `redis-server`.
# The last line is `N passed, N failed`; the exit code is 0 if nothing failed.
set -euo pipefail

# shellcheck source=tests/clients/install.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tests/clients/install.sh"
clients=$root/tests/clients

python_packages python redis==8.1.0
node_packages node-18 redis@5.9.0 ioredis@5.9.2 # the last that run on Node.js 18, Debian 12's
sets=(node-18)
if (($(node -p 'parseInt(process.versions.node)') >= 20)); then
    node_packages node-20 redis@6.3.1 ioredis@6.0.0
    sets+=(node-20)
fi
cargo build --quiet --locked --manifest-path "$clients/rust/Cargo.toml" --target-dir "$installed/rust"
flock -u 9

python=$installed/python/bin/python
programs=(redis-py "$python" "$clients/redis_py.py")
for set in "${sets[@]}"; do
    # A module is looked for beside the file that imports it.
    cp "$clients"/*.mjs "$clients/table.json" "$installed/$set/"
    programs+=(-- "node-redis ($set)" node "$installed/$set/node_redis.mjs")
    programs+=(-- "ioredis ($set)" node "$installed/$set/ioredis.mjs")
done
programs+=(-- redis-rs "$installed/rust/debug/slidewin-client-test")
for test in recipes migrating; do
    [[ ! -e $clients/$test.py ]] || programs+=(-- "$test" "$python" "$clients/$test.py")
done
exec "$python" "$clients/run.py" "${programs[@]}"
