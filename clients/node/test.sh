#!/usr/bin/env bash
# Tests the package as people get it: packed by npm, installed from the tarball, with real servers.
#
#   clients/node/test.sh [tests/NAME.test.js ...]    installs below target/clients/ what it needs
#
# SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the server, else `redis-server`.
set -euo pipefail
package=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=tests/clients/install.sh
source "$package/../../tests/clients/install.sh"

need node nodejs npm
if (($(node -p 'parseInt(process.versions.node)') < 20)); then # Debian 12's; NestJS, Fastify and the newest clients want 20
    node_packages node node@22.23.3
    PATH=$installed/node/node_modules/node/bin:$PATH
fi
# The oldest and the newest clients, and the frameworks.
node_packages package redis5@npm:redis@5.9.0 ioredis5@npm:ioredis@5.9.2 redis@6.3.1 ioredis@6.0.0 \
    express@5.3.0 express-rate-limit@8.7.5 rate-limit-redis@6.0.1 \
    fastify@5.12.8 @fastify/rate-limit@11.2.0 \
    @nestjs/common@12.5.1 @nestjs/core@12.5.1 @nestjs/platform-express@12.5.1 @nestjs/throttler@6.7.1 \
    reflect-metadata@0.2.2 rxjs@7.8.2 \
    typescript@5.9.3 @types/node@20.19.30 @types/express@5.0.6

# A module is looked for beside the file that imports it: the tests run where their packages are.
run=$installed/package
rm -rf "$run/tests" "$run/examples" "$run/node_modules/slidewin" "$run"/*.tgz
tarball=$(npm pack --silent --pack-destination "$run" "$package")
mkdir "$run/node_modules/slidewin"
tar -xzf "$run/$tarball" -C "$run/node_modules/slidewin" --strip-components=1
cp -r "$package/tests" "$run/tests"
cp -r "$root/examples" "$run/examples"
flock -u 9

export SLIDEWIN_TARBALL=$run/$tarball
cd "$run"
(($#)) || set -- tests/*.test.js
node --test --test-timeout 240000 --test-reporter spec "$@"
