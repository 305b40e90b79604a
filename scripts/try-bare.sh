#!/usr/bin/env bash
# Tries `make run` and `make test` as somebody would who has just installed the system, and says how long each took.
#
#   scripts/try-bare.sh SUITE [RUST] [TARGET...]
#
# SUITE is what debootstrap knows: bookworm, trixie, jammy, noble. MIRROR is where it comes from, else this machine's own
# mirror. RUST is `machine` (a copy of this machine's toolchain, the default) or the name of a package of the suite:
# cargo, cargo-web. TARGETS are make's, else `run test`. The committed state of this clone is what is tried.
#
# The system is below target/bare/SUITE, made anew each time from a copy of debootstrap's. It has make, git, sudo and
# Rust; the user has no rights of root but by sudo. Everything else has to come from the project's scripts. The settings
# for package registries are this machine's, handed over when it runs. Needs root, for chroot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=${1:?"usage: scripts/try-bare.sh SUITE [RUST] [TARGET...]"}
rust=${2:-machine}
targets=("${@:3}")
((${#targets[@]})) || targets=(run test)
((EUID == 0)) || { echo 'try-bare.sh: needs root, for chroot' >&2; exit 1; }

. scripts/apt.sh
command -v debootstrap >/dev/null || apt_install debootstrap
# shellcheck disable=SC2016  # apt-get fills in these fields, not the shell
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)}

place=$PWD/target/bare/$suite
root=$place/root
base=$place/base
mkdir -p "$place"
if [[ ! -e $place/bootstrapped ]]; then
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase "$suite" "$base" "$mirror" >"$place/debootstrap.log"
    touch "$place/bootstrapped"
fi
rm -rf --one-file-system "$root"
cp -a "$base" "$root"

# What this machine needs to reach the registries: names, certificates, each client's settings.
cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
if [[ -e $certificates ]]; then
    install -D -m 0644 "$certificates" "$root/opt/certificates.crt"
    for name in SSL_CERT_FILE CURL_CA_BUNDLE CARGO_HTTP_CAINFO GIT_SSL_CAINFO PIP_CERT REQUESTS_CA_BUNDLE \
        NODE_EXTRA_CA_CERTS NPM_CONFIG_CAFILE; do
        echo "$name=/opt/certificates.crt"
    done >>"$root/etc/environment"
fi
env | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_INDEX_URL|PIP_DEFAULT_TIMEOUT|NPM_CONFIG_REGISTRY)=' \
    >>"$root/etc/environment" || true
home=$root/home/you
for file in "${CARGO_HOME:-$HOME/.cargo}/config.toml:.cargo/config.toml" "$HOME/.npmrc:.npmrc" \
    /etc/pip.conf:.config/pip/pip.conf; do
    [[ ! -e ${file%%:*} ]] || install -D -m 0644 "${file%%:*}" "$home/${file##*:}"
done
sed -i '/^\(ca\(file\)\?\|nodedir\)=/d' "$home/.npmrc" 2>/dev/null || true # paths of this machine
# Each request to a mirror is logged, so that at the end it can be told which suites were asked for.
echo 'Debug::Acquire::http "true"; Debug::Acquire::https "true";' >"$root/etc/apt/apt.conf.d/90requests"

if [[ $rust == machine ]]; then
    mkdir -p "$root/opt/rust"
    tar -C "$(rustc --print sysroot)" --exclude=./share/doc -c . | tar -C "$root/opt/rust" -x
    echo 'PATH=/opt/rust/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin' >>"$root/etc/environment"
else
    echo 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin' >>"$root/etc/environment"
fi
mkdir -p "$home"
git clone --quiet --no-hardlinks . "$home/slidewin"
git -C "$home/slidewin" remote remove origin

cat >"$root/opt/install" <<END
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --no-install-recommends make git sudo ca-certificates $([[ $rust == machine ]] || echo "$rust")
useradd --no-create-home --shell /bin/bash you
chown -R you: /home/you
echo 'you ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/you
END
cat >"$root/opt/make" <<'END'
set -a; . /etc/environment; set +a
cd /home/you/slidewin
exec make "$@"
END

# in_system COMMAND...: as root in the system; when it ends, so do its processes and mounts.
in_system() {
    # shellcheck disable=SC2016  # the inner shell fills in
    unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" bash -ec '
        mount --rbind /dev "$0/dev"
        env -i TERM=dumb LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$0" "$@"
        exit # so that this shell stays: it is what dies with unshare, and all else with it
    ' "$root" "$@" </dev/null
}

echo "=== $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$root/etc/os-release"), $(git describe --always), Rust: $rust"
in_system bash /opt/install >"$place/install.log" 2>&1 || { tail -20 "$place/install.log" >&2; exit 1; }
code=0
for target in "${targets[@]}"; do
    SECONDS=0 status=0
    in_system sudo -u you HOME=/home/you bash /opt/make "$target" >"$place/$target.log" 2>&1 || status=$?
    printf 'make %s: exit code %d after %d min %02d s\n' "$target" "$status" $((SECONDS / 60)) $((SECONDS % 60))
    # The summary of `make test`; else what it said last.
    grep -E '[0-9]+ passed +[0-9]+ failed +[0-9]+ s$|^[0-9]+ passed, [0-9]+ failed' "$place/$target.log" || tail -3 "$place/$target.log"
    ((status == 0)) || code=1
done
echo "suites that the mirror was asked for: $(cat "$place"/*.log | grep -aoE 'GET [^ ]*/dists/[^ ]*/In?Release' |
    sed -E 's|.*/dists/(.*)/In?Release|\1|' | sort -u | paste -sd ' ')"
exit $code
