#!/usr/bin/env bash
# Tests monitoring/ with a real redis-server, prometheus-redis-exporter and prometheus, on free loopback ports.
#
#   scripts/test-monitoring.sh [PYTEST ARGUMENT...]
#
# SLIDEWIN_MODULE is the module, else the one that `make build` makes; REDIS_SERVER the server, else `redis-server`.
# PROGRAMS is a directory with other programs of Prometheus than this system's. Those that are not on PATH are unpacked
# from the system's packages below target/monitoring/: nothing is installed and no service started. The exit
# code is pytest's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/apt.sh
place=$PWD/target/monitoring
export PATH=${PROGRAMS:+$PROGRAMS:}$PATH:$place/usr/bin
export SLIDEWIN_MODULE=${SLIDEWIN_MODULE:-$PWD/target/release/libslidewin.so}
[[ -e $SLIDEWIN_MODULE ]] || { echo "no module at $SLIDEWIN_MODULE: make build" >&2; exit 1; }

programs=()
for program in prometheus promtool prometheus-redis-exporter; do
    command -v "$program" >/dev/null || programs+=("$program")
done
if ((${#programs[@]})); then
    if ! command -v apt-get >/dev/null; then
        echo "missing here: ${programs[*]}" >&2
        exit 1
    fi
    echo "unpacking ${programs[*]}" >&2
    apt_update
    mkdir -p "$place"
    for program in "${programs[@]}"; do
        # Each is a package of its name, but for promtool: Debian 12 has it in the package prometheus, 13 by itself.
        package=$program
        [[ $(apt-cache policy "$package") == *Candidate:* ]] || package=prometheus
        (
            cd "$place"
            apt-get download -qq -o "APT::Sandbox::User=$(id -un)" "$package" >&2
            dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x ./usr/bin
            rm "$package"_*.deb
        )
    done
fi

python=$place/python
wanted=(pytest==9.0.1 PyYAML==6.0.3)
if [[ $(cat "$python/installed" 2>/dev/null) != "${wanted[*]}" ]]; then
    scripts/setup.sh python
    python3 -m venv --clear "$python"
    "$python/bin/python" -m pip install -q --disable-pip-version-check "${wanted[@]}"
    echo "${wanted[*]}" >"$python/installed"
fi
exec "$python/bin/python" -m pytest -v -p no:cacheprovider -o pythonpath=tests/clients monitoring/test_monitoring.py "$@"
