# Sourced by scripts/test-clients.sh and scripts/test-examples.sh: installs below target/clients/ what they need, and on
# the machine what is missing there. What is there already costs no network.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
installed=$root/target/clients
mkdir -p "$installed"
exec 9>"$installed/lock" # both scripts may run at the same time
flock 9

. "$root/scripts/apt.sh"

# need PROGRAM PACKAGE...: installs Debian's packages if the program is missing.
need() {
    command -v "$1" >/dev/null || apt_install "${@:2}"
}

# once NAME WHAT COMMAND...: runs the command unless it has been done for this WHAT.
once() {
    local stamp=$installed/$1.stamp
    [[ $(cat "$stamp" 2>/dev/null) == "$2" ]] && return
    "${@:3}"
    echo "$2" >"$stamp"
}

# python_packages NAME PACKAGE==VERSION...: in a virtual environment of that name.
python_packages() {
    need python3 python3 python3-venv
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    once "$1" "${*:2}" install_python "$@"
}

install_python() {
    python3 -m venv --clear "$installed/$1"
    "$installed/$1/bin/python" -m pip install --quiet --disable-pip-version-check "${@:2}"
}

# node_packages NAME PACKAGE@VERSION...: in a folder of that name. No lock file: it would name the registry.
node_packages() {
    "$root/scripts/setup.sh" node
    once "$1" "${*:2}" install_node "$@"
}

install_node() {
    rm -rf "${installed:?}/$1"
    mkdir "$installed/$1"
    echo '{"private": true}' >"$installed/$1/package.json"
    npm install --prefix "$installed/$1" --no-save --no-package-lock --no-audit --no-fund --loglevel error "${@:2}"
}

# run_pytest NAME ARGUMENT...: pytest in the virtual environment of that name, where python_packages has put it. The reason
# of each skipped test is printed; no test at all is an error of pytest's. The launcher of servers can be imported.
run_pytest() {
    PYTHONPATH=$root/tests/clients PYTHONDONTWRITEBYTECODE=1 \
        "$installed/$1/bin/python" -m pytest --quiet --strict-markers -r s -p no:cacheprovider "${@:2}"
}

# The module and a server: SLIDEWIN_MODULE and REDIS_SERVER, where they are set.
if [[ ! ${SLIDEWIN_MODULE-} ]]; then
    cargo build --quiet --release --manifest-path "$root/Cargo.toml" --target-dir "$root/target"
    export SLIDEWIN_MODULE=$root/target/release/libslidewin.so
fi
if [[ ! ${REDIS_SERVER-} ]]; then
    REDIS_SERVER=$(command -v redis-server) || REDIS_SERVER=$("$root/scripts/servers.sh" redis-8.2)
    export REDIS_SERVER
fi
