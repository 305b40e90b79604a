#!/usr/bin/env bash
# Plays one session with one module file on the same Redis 6.2, built for glibc and for musl, and compares the replies.
#
#   scripts/test-musl.sh    the portable module as it is given away, and its debug build, in which a key panics
#
# The last line is `N passed, N failed`; the exit code is 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh redis

dir=$(mktemp -d)
server=
stop() {
    [[ -z $server ]] || { kill -9 "$server" && wait "$server"; } 2>/dev/null || true
    server=
}
trap 'stop; rm -rf "$dir"' EXIT

# session SERVER MODULE: starts it, sends what is on stdin, and prints the replies; then the server has to be there still.
session() {
    local port
    rm -f "$dir"/dump.rdb
    for ((try = 0; try < 20; try++)); do
        port=$((20000 + RANDOM % 10000))
        "$1" --port "$port" --bind 127.0.0.1 --save '' --dir "$dir" --loadmodule "$2" >"$dir/log" 2>&1 &
        server=$!
        while kill -0 "$server" 2>/dev/null; do
            [[ $(redis-cli -p "$port" INFO server 2>/dev/null) != *"process_id:$server"* ]] || break 2
            sleep 0.05
        done
        grep -q 'Address already in use' "$dir/log" || { tail -5 "$dir/log"; return; }
    done
    redis-cli -p "$port" 2>&1 || true
    redis-cli -p "$port" PING 2>&1 || grep -m 3 -E 'crashed|signal|Accessing' "$dir/log" || true
    stop
}

passed=0 failed=0
# check WHAT WANTED GOT
check() {
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
        diff <(echo "$2") <(echo "$3") | sed 's/^/        /' || true
    fi
}

release=$(scripts/portable.sh "$(rustc -vV | sed -n 's/^host: //p')" --release)
debug=$(scripts/portable.sh)
glibc=$(scripts/servers.sh redis-6.2)
musl=$(scripts/musl-server.sh)

# Nothing in it depends on the time: a limit of 0, costs above the limit and a window of days do not.
cat >"$dir/session" <<'END'
SLIDEWIN.CHECK k 1h 3
SLIDEWIN.CHECK k 1h 3 COST 2 RECEIPT
SLIDEWIN.CHECK k 1h 3
SLIDEWIN.CHECK k 1h 3 COST 4 WITHQUOTA
SLIDEWIN.CHECK zero 1h 0 WITHQUOTA
SLIDEWIN.PEEK k 1h 3
SLIDEWIN.REFUND k 3 COST 1
SLIDEWIN.CHECK k 1h 3 10s 100
SLIDEWIN.CHECK k 1h x
SLIDEWIN.CHECK k
SET text hello
SLIDEWIN.CHECK text 1h 3
EVAL "return redis.call('SLIDEWIN.CHECK', KEYS[1], 3600, 2)" 1 lua
ZRANGE k 0 -1
SLIDEWIN.OFFENDERS COUNT 1
DEBUG RELOAD
SLIDEWIN.CHECK k 1h 3
MODULE UNLOAD slidewin
ZCARD k
END
for module in "$release" "$debug"; do
    wanted=$(session "$glibc" "$PWD/$module" <"$dir/session")
    check "$module answers on glibc" "$(printf '1\n3')" "$(head -n 2 <<<"$wanted")"
    check "$module answers the same on musl: $(wc -l <<<"$wanted") lines" "$wanted" "$(session "$musl" "$PWD/$module" <"$dir/session")"
done
for name in glibc musl; do
    got=$(session "${!name}" "$PWD/$debug" <<<$'SLIDEWIN.CHECK slidewin:panic 1h 3\nSLIDEWIN.CHECK k 1h 3')
    check "a panic is an error reply on $name, and the server goes on" "$(printf 'ERR \n1\nPONG')" "$(sed -E 's/^(\(error\) )?(ERR ).*/\2/' <<<"$got" | grep .)"
done
echo "$passed passed, $failed failed"
((failed == 0))
