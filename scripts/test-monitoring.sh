#!/usr/bin/env bash
# Tests monitoring/ with a real redis-server, prometheus-redis-exporter and prometheus, on free loopback ports.
#
# SLIDEWIN_MODULE is the module, else the one that `make build` makes; REDIS_SERVER the server, else `redis-server`.
# Programs of Prometheus that are not on PATH are unpacked from Debian's packages below target/monitoring/: nothing
# is installed and no service started. The last line is `N passed, N failed`; the exit code is 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
programs=$PWD/target/monitoring
export PATH=$PATH:$programs/usr/bin
export SLIDEWIN_MODULE=${SLIDEWIN_MODULE:-$PWD/target/release/libslidewin.so}
[[ -e $SLIDEWIN_MODULE ]] || { echo "no module at $SLIDEWIN_MODULE: make build" >&2; exit 1; }

packages=()
for program in prometheus prometheus-redis-exporter; do
    command -v "$program" >/dev/null || packages+=("$program")
done
if ((${#packages[@]})); then
    if ! command -v apt-get >/dev/null; then
        echo "missing here: ${packages[*]}" >&2
        exit 1
    fi
    echo "unpacking ${packages[*]}" >&2
    sudo=()
    ((EUID == 0)) || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq >&2
    mkdir -p "$programs"
    (
        cd "$programs"
        apt-get download -qq -o "APT::Sandbox::User=$(id -un)" "${packages[@]}" >&2
        for package in "${packages[@]}"; do
            dpkg-deb --fsys-tarfile "${package}"_*.deb | tar -x ./usr/bin
            rm "${package}"_*.deb
        done
    )
fi

exec python3 monitoring/test.py
