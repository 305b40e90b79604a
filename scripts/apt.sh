# Sourced by whatever installs something. Says what to install, and fails, where there is no apt-get.
# shellcheck shell=bash

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
