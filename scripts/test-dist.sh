#!/usr/bin/env bash
# Tests the packages that scripts/dist.sh built, and `make install`.
#
#   scripts/test-dist.sh [TARGET]    by default this machine's; the module of another machine is not loaded
#
# REDIS_SERVER is the server, else `redis-server`. The last line is `N passed, N failed`, with `, N skipped` where
# something was; the exit code is 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh redis
. scripts/server.sh

target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
id=$(cargo pkgid --locked)
version=${id##*[#@]}
name=slidewin-$version-$target
case $target in
    x86_64-*) machine='Advanced Micro Devices X86-64' architecture=amd64 ;;
    aarch64-*) machine=AArch64 architecture=arm64 ;;
    *)
        echo "test-dist.sh: not known here: $target" >&2
        exit 2
        ;;
esac
archive=dist/$name.tar.gz
deb=dist/redis-slidewin_$version-1_$architecture.deb
for file in "$archive" "$deb"; do
    [[ -f $file ]] || { echo "test-dist.sh: no $file: run scripts/dist.sh $target first" >&2; exit 1; }
done

dir=$(mktemp -d)
trap 'stop_server; rm -rf "$dir"' EXIT

passed=0 failed=0 skipped=0
# check WHAT WANTED GOT: both are texts.
check() {
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
        diff <(echo "$2") <(echo "$3") | sed -n 's/^</        wanted: /p; s/^>/        got:    /p' || true
    fi
}

# first_calls MODULE: loads it in a server of its own and prints what a key with the limit 1 answers to two calls,
# or the server's log if it did not start.
first_calls() {
    start_server "$dir" "$1" 2>&1 || return 0
    redis-cli -p "$port" <<<$'SLIDEWIN.CHECK k 60 1\nSLIDEWIN.CHECK k 60 1' || true
    stop_server
}

# machine FILE: the kind of machine that it is for.
machine() { readelf -h "$1" | sed -n 's/^ *Machine: *//p'; }

# check_loads WHAT MODULE
check_loads() {
    if [[ $(machine "$2") != $(machine "$BASH") ]]; then
        skipped=$((skipped + 1))
        echo "skipped $1: this is another kind of machine"
        return
    fi
    first_calls "$2" >"$dir/answers"
    check "$1" $'1\n0' "$(cat "$dir/answers")"
}

mkdir "$dir/archive"
tar -xzf "$archive" -C "$dir/archive"
check 'the archive has these files, with these modes' "drwxr-xr-x 0/0 $name/
-rw-r--r-- 0/0 $name/CHANGELOG.md
-rw-r--r-- 0/0 $name/LICENSE
-rw-r--r-- 0/0 $name/LICENSE-APACHE
-rw-r--r-- 0/0 $name/LICENSE-MIT
-rw-r--r-- 0/0 $name/LICENSE-THIRD-PARTY
-rw-r--r-- 0/0 $name/README.md
-rw-r--r-- 0/0 $name/SHA256SUMS
-rwxr-xr-x 0/0 $name/libslidewin.so
-rw-r--r-- 0/0 $name/redis.conf.example" \
    "$(tar -tvzf "$archive" --numeric-owner | awk '{ print $1, $2, $6 }')"
cd "$dir/archive/$name"
check 'its checksums are right' '' "$(sha256sum --check --strict --quiet SHA256SUMS 2>&1)"
check 'and are those of all its files' \
    "$(find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort)" "$(sed 's/^[^ ]*  //' SHA256SUMS)"
cd "$OLDPWD"
module=$dir/archive/$name/libslidewin.so

check 'it is a module for this kind of machine' "$machine" "$(machine "$module")"
glibc=$(readelf -W --version-info "$module" | grep -o 'GLIBC_[A-Za-z0-9._]*' | sort -Vu) || true
echo "        ${glibc//$'\n'/ }"
check 'it needs no glibc newer than 2.28' GLIBC_2.28 "$(printf '%s\n' "${glibc:-none}" GLIBC_2.28 | sort -V | tail -n 1)"
needed=$(readelf -W --dynamic "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "        ${needed//$'\n'/ }"
# Those that musl has too, under the same names; not glibc's loader, which it does not.
check 'it needs no library but libc and its parts' 'libc.so.6' \
    "$(grep -vxE 'lib(pthread|dl|m|rt)\.so\.[0-9]+' <<<"$needed")"
check 'its functions are those that a server calls' $'RedisModule_OnLoad\nRedisModule_OnUnload' \
    "$(readelf -W --dyn-syms "$module" | awk '$4 == "FUNC" && $7 != "UND" { print $8 }' | sort)"
check 'no path of the machine that built it is in it' '' \
    "$(grep -aoFm 3 -e "$PWD/" -e "${CARGO_HOME:-$HOME/.cargo}/" "$module" | sort -u)"
check_loads 'the module of the archive answers 1, then 0' "$module"

dpkg-deb -x "$deb" "$dir/deb"
dpkg-deb -e "$deb" "$dir/control"
check 'the package says what it is' "redis-slidewin
$version-1
$architecture
libc6 (>= 2.28)
redis-server (>= 5:6.2) | valkey-server" \
    "$(for field in Package Version Architecture Depends Recommends; do dpkg-deb -f "$deb" $field; done)"
check 'it has these files, with these modes' '-rw-r--r-- 0/0 ./usr/share/doc/redis-slidewin/CHANGELOG.md
-rw-r--r-- 0/0 ./usr/share/doc/redis-slidewin/LICENSE-THIRD-PARTY
-rw-r--r-- 0/0 ./usr/share/doc/redis-slidewin/README.md
-rw-r--r-- 0/0 ./usr/share/doc/redis-slidewin/copyright
-rw-r--r-- 0/0 ./usr/share/doc/redis-slidewin/redis.conf.example
-rwxr-xr-x 0/0 ./usr/lib/redis/modules/libslidewin.so' \
    "$(dpkg-deb -c "$deb" | awk '!/^d/ { print $1, $2, $6 }' | LC_ALL=C sort)"
check 'it runs nothing when it is installed' control "$(ls "$dir/control")"
check 'its module is the one of the archive' '' \
    "$(cmp "$module" "$dir/deb/usr/lib/redis/modules/libslidewin.so" 2>&1)"
check 'its example names its module' 'loadmodule /usr/lib/redis/modules/libslidewin.so' \
    "$(grep '^loadmodule' "$dir/deb/usr/share/doc/redis-slidewin/redis.conf.example")"
check_loads 'the module of the package answers 1, then 0' "$dir/deb/usr/lib/redis/modules/libslidewin.so"

make --no-print-directory install PREFIX="$dir/prefix" >"$dir/make.log" 2>&1 || cat "$dir/make.log"
check 'make install PREFIX= installs one file, executable' '755 lib/redis/modules/libslidewin.so' \
    "$(find "$dir/prefix" -type f -printf '%m %P\n')"
check_loads 'the module that it installed answers 1, then 0' "$dir/prefix/lib/redis/modules/libslidewin.so"

closing="$passed passed, $failed failed"
((skipped == 0)) || closing+=", $skipped skipped"
echo "$closing"
((failed == 0))
