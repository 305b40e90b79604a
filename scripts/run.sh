#!/usr/bin/env bash
# Starts a redis-server with the module on a free port and plays a session with it. In a terminal it then
# serves until interrupted; elsewhere it ends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
module=${SLIDEWIN_MODULE:-$PWD/target/release/libslidewin.so}

dir=$(mktemp -d)
server=
stop() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 0' INT TERM

cli() { redis-cli -p "$port" "$@"; }
for port in {6379..6479}; do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue # taken
    "${REDIS_SERVER:-redis-server}" --port "$port" --bind 127.0.0.1 --save '' --dir "$dir" \
        --loadmodule "$module" >"$dir/log" 2>&1 &
    server=$!
    while kill -0 "$server" 2>/dev/null; do
        if [[ $(cli INFO server 2>/dev/null) == *"process_id:$server"* ]]; then break 2; fi
        sleep 0.05
    done
    # Somebody took the port in between; anything else is an error.
    grep -q 'Address already in use' "$dir/log" || { cat "$dir/log" >&2; exit 1; }
    server=
done
[[ $server ]] || { echo 'no free port from 6379 to 6479' >&2; exit 1; }

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
