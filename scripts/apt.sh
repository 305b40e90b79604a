# Sourced by whatever installs something. Says what to install, and fails, where there is no apt-get.
# shellcheck shell=bash

# apt_install PACKAGE...: installs Debian's packages; all output goes to stderr.
apt_install() {
    if ! command -v apt-get >/dev/null; then
        echo "missing here; install the equivalents of these Debian packages, then try again: $*" >&2
        return 1
    fi
    local sudo=()
    ((EUID == 0)) || sudo=(sudo)
    echo "installing $*" >&2
    "${sudo[@]}" apt-get update -qq >&2 &&
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$@" >&2
}
