#!/usr/bin/env bash
# Runs a Python file of this folder with what it needs: the pinned packages (a virtual environment
# below target/), a server (REDIS_SERVER, or the Redis 8.2 of scripts/servers.sh, which every system
# can have), the module (SLIDEWIN_MODULE, or target/release/libslidewin.so) and redis-benchmark.
#
#   bench/python.sh FILE [ARGUMENT...]
set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bench")
venv=$root/target/bench-venv

. "$root/scripts/apt.sh"

# The copy of the pins is made last: an install that was cut short starts afresh.
if ! cmp -s "$bench/requirements.txt" "$venv/requirements.txt"; then
    echo "bench: installing Python packages below target/" >&2
    "$root/scripts/setup.sh" python
    python3 -m venv --clear "$venv" >&2
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$bench/requirements.txt" >&2
    cp "$bench/requirements.txt" "$venv/"
fi
# redis-tools brings redis-benchmark, and no service.
command -v redis-benchmark >/dev/null || apt_install redis-tools

export REDIS_SERVER=${REDIS_SERVER:-$("$root/scripts/servers.sh" redis-8.2)}
export SLIDEWIN_MODULE=${SLIDEWIN_MODULE:-$root/target/release/libslidewin.so}
if [[ ! -f $SLIDEWIN_MODULE ]]; then
    cargo build --release --manifest-path "$root/Cargo.toml" >&2
fi
cargo build --release --quiet --locked --manifest-path "$root/Cargo.toml" --target-dir "$root/target" \
    --package slidewin-core --features memory --example grow >&2
export GROW=$root/target/release/examples/grow
exec "$venv/bin/python" "$bench/$1" "${@:2}"
