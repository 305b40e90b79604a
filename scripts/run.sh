#!/usr/bin/env bash
# Starts a redis-server with the module on a free port and plays a session with it. In a terminal it then
# serves until interrupted; elsewhere it ends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
module=${SLIDEWIN_MODULE:-$PWD/target/release/libslidewin.so}

. scripts/server.sh

dir=$(mktemp -d)
trap 'stop_server; rm -rf "$dir"' EXIT
trap 'exit 0' INT TERM
start_server "$dir" "$module"

cli() { redis-cli -p "$port" "$@"; }
say() { printf '\n# %s\n' "$*"; }
play() {
    printf '127.0.0.1:%s> %s\n' "$port" "$*"
    cli --no-raw "$@"
}
say 'Three calls in any two seconds are admitted:'
for _ in 1 2 3; do play SLIDEWIN.CHECK ip:10.0.0.1 2 3; done
say 'The fourth is refused:'
play SLIDEWIN.CHECK ip:10.0.0.1 2 3
say 'admitted, limit, remaining, and the ms until a call fits and until the window is empty:'
play SLIDEWIN.CHECK ip:10.0.0.1 2 3 WITHQUOTA
retry_after_ms=$(cli SLIDEWIN.PEEK ip:10.0.0.1 2 3 WITHQUOTA | sed -n 4p)
say "Wait $retry_after_ms ms, as it says:"
sleep "$(printf '%d.%03d' $((retry_after_ms / 1000)) $((retry_after_ms % 1000)))"
play SLIDEWIN.CHECK ip:10.0.0.1 2 3
say 'The log is an ordinary sorted set: running totals, with times in µs:'
play ZRANGE ip:10.0.0.1 0 -1 WITHSCORES

if [[ -t 0 && -t 1 ]]; then
    say "Serving on port $port until interrupted. Try: redis-cli -p $port"
    wait "$server"
fi
