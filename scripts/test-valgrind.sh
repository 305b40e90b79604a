#!/usr/bin/env bash
# Runs the module in a server under valgrind: no invalid access, no definite leak with a frame in the module.
#
#   scripts/test-valgrind.sh [NAME...]    servers with the libc allocator, see scripts/servers.sh; default valkey-9.1
#
# SLIDEWIN_MODULE is the module to test, else it is built.
# The exit code is 0 if valgrind found nothing on any of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
names=("${@:-valkey-9.1}")

scripts/setup.sh build valgrind
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if [[ ! ${SLIDEWIN_MODULE-} ]]; then
    "$cargo" build --release --locked --quiet
    SLIDEWIN_MODULE=${CARGO_TARGET_DIR:-$PWD/target}/release/libslidewin.so
fi
# A frame is known as ours by this name.
cp "$SLIDEWIN_MODULE" "$dir/libslidewin.so"
export SLIDEWIN_MODULE=$dir/libslidewin.so
"$cargo" test --locked --quiet --test server --no-run

failed_on=()
for name in "${names[@]}"; do
    server=$(scripts/servers.sh "$name")
    if ! "$server" --version | grep -q 'malloc=libc'; then
        echo "$name: its allocator is not libc's, so valgrind sees nothing" >&2
        exit 2
    fi
    mkdir "$dir/$name"
    # The harness runs this as its server. Asked for the version it is the server itself.
    cat >"$dir/$name/server" <<WRAPPER
#!/bin/sh
[ "\$1" != --version ] || exec "$server" --version
exec valgrind --leak-check=full --show-leak-kinds=definite --num-callers=40 --keep-debuginfo=yes \
    --log-file="$dir/$name/%p.log" "$server" "\$@"
WRAPPER
    chmod +x "$dir/$name/server"
    SECONDS=0
    status=0
    REDIS_SERVER=$dir/$name/server "$cargo" test --locked --quiet --test server -- \
        --ignored valgrind:: || status=$?
    logs=("$dir/$name"/*.log)
    # An error is a run of lines between empty ones. It is ours where a frame is in the module.
    errors=$(sed 's/^==[0-9]*== \?//' "${logs[@]}" |
        awk -v RS= -v ORS='\n\n' '/ \(in [^()]*slidewin[^()]*\.so\)/ && !/possibly lost/')
    if ((status == 0)) && [[ -e ${logs[0]} && ! $errors ]] && grep -q 'LEAK SUMMARY\|no leaks are possible' "${logs[@]}"; then
        echo "$name: $(sed -n 's/^==[0-9]*== *\(definitely lost:.*\)/\1/p' "${logs[@]}"), nothing from the module; ${SECONDS} s"
    else
        failed_on+=("$name")
        printf '%s\n' "$name: failed" "$errors" >&2
        tail -40 "${logs[@]}" >&2
    fi
done
((${#failed_on[@]} == 0)) || { echo "failed on: ${failed_on[*]}"; exit 1; }
