#!/usr/bin/env bash
# Plays one session with one module file on the same Redis 6.2, built for glibc and for musl, and compares the replies.
#
#   scripts/test-musl.sh    the portable module as it is given away, and its debug build, in which a key panics
#
# The last line is `N passed, N failed`; the exit code is 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh redis

. scripts/server.sh

dir=$(mktemp -d)
trap 'stop_server; rm -rf "$dir"' EXIT

# session SERVER MODULE: starts it, sends what is on stdin, and prints the replies; then the server has to be there still.
session() {
    rm -f "$dir"/dump.rdb
    REDIS_SERVER=$1 start_server "$dir" "$2" 2>&1 || return 0
    redis-cli -p "$port" 2>&1 || true
    redis-cli -p "$port" PING 2>&1 || grep -m 3 -E 'crashed|signal|Accessing' "$dir/log" || true
    stop_server
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

# Receipts and waits have five digits and more, and differ from run to run.
replies() { session "$@" <"$dir/session" | sed -E 's/[0-9]{5,}/N/g'; }
cat >"$dir/session" <<'END'
SLIDEWIN.CHECK k 1h 3
SLIDEWIN.CHECK k 1h 3 COST 2 RECEIPT
SLIDEWIN.CHECK k 1h 3
SLIDEWIN.CHECK k 1h 3 COST 4 WITHQUOTA
SLIDEWIN.CHECK zero 1h 0 WITHQUOTA
SLIDEWIN.PEEK k 1h 3
SLIDEWIN.REFUND k 3
SLIDEWIN.CHECK k 1h 3 10s 100
SLIDEWIN.CHECK k 1h x
SLIDEWIN.CHECK k
SET text hello
SLIDEWIN.CHECK text 1h 3
EVAL "return redis.call('SLIDEWIN.CHECK', KEYS[1], 3600, 2)" 1 lua
ZCARD k
SLIDEWIN.OFFENDERS COUNT 1
DEBUG RELOAD
SLIDEWIN.CHECK k 1h 3
MODULE UNLOAD slidewin
ZCARD k
END
for module in "$release" "$debug"; do
    wanted=$(replies "$glibc" "$PWD/$module")
    check "$module answers on glibc" $'1\nN\n0\nPONG' "$(sed -n '1,3p; $p' <<<"$wanted")"
    check "$module answers the same on musl: $(wc -l <<<"$wanted") lines" "$wanted" "$(replies "$musl" "$PWD/$module")"
done
for name in glibc musl; do
    got=$(session "${!name}" "$PWD/$debug" <<<$'SLIDEWIN.CHECK slidewin:panic 1h 3\nSLIDEWIN.CHECK k 1h 3')
    check "a panic is an error reply on $name, and the server goes on" $'ERR \n1\nPONG' "$(sed -E 's/^(\(error\) )?(ERR ).*/\2/' <<<"$got" | grep .)"
done
echo "$passed passed, $failed failed"
((failed == 0))
