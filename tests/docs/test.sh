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
if (($(node -p 'parseInt(process.versions.node)' 2>/dev/null || echo 18) >= 20)); then
    node_packages docs-node redis@6.3.1 ioredis@6.0.0
else
    node_packages docs-node redis@5.9.0 ioredis@5.9.2 # the last that run on Node.js 18, Debian 12's
fi
cp "$root"/tests/docs/clients/*.mjs "$installed/docs-node/" # a module is looked for beside the file that imports it
need php php-cli php-redis php-predis
php -r 'exit(extension_loaded("redis") && stream_resolve_include_path("Predis/Autoloader.php") ? 0 : 1);' ||
    apt_install php-redis php-predis
need ruby ruby ruby-redis
ruby -e 'require "redis"' 2>/dev/null || apt_install ruby-redis
ruby -e 'require "redis"; Redis::VERSION.to_i < 5 or require "redis-clustering"' 2>/dev/null || apt_install ruby-redis-clustering
need go golang-go golang-github-gomodule-redigo-dev
[[ -d /usr/share/gocode/src/github.com/gomodule/redigo ]] || apt_install golang-github-gomodule-redigo-dev
GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$installed/go-cache \
    go build -o "$installed/redigo" "$root/tests/docs/clients/redigo/main.go"
for name in $("$root/scripts/servers.sh" --list); do
    "$root/scripts/servers.sh" "$name" >/dev/null
done
flock -u 9
run_pytest docs "$root/tests/docs" "$@"
