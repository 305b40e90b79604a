#!/usr/bin/env bash
# Builds the packages: dist/slidewin-VERSION-TARGET.tar.gz and dist/*.deb.
#
#   scripts/dist.sh [TARGET]    a Rust target *-unknown-linux-gnu, by default this machine's
#
# The module needs no glibc newer than 2.28 (Debian 10, Ubuntu 20.04, RHEL 8), whatever this machine has: zig
# links it, which knows the symbols of each glibc and needs no cross toolchain. The same commit gives the same
# bytes: no date, owner or path of this machine gets in. The tools are installed below target/tools/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022
root=$PWD
tools=$root/target/tools
export CARGO_TARGET_DIR=$root/target

target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
if [[ $target != *-unknown-linux-gnu ]]; then
    echo "dist.sh: no package for $target: a target is x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu or alike" >&2
    exit 2
fi
scripts/setup.sh build python
if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
    rustup target add "$target"
fi

# installed NAME RECIPE: whether NAME was installed by this recipe, to the end.
installed() { [[ $(cat "$tools/$1/recipe" 2>/dev/null) == "$2" ]]; }

# Both as wheels: they bring built programs.
zig=(cargo-zigbuild==0.24.1 ziglang==0.17.1)
if ! installed zig "${zig[*]}"; then
    python3 -m venv --clear "$tools/zig"
    "$tools/zig/bin/python" -m pip install -q --no-deps --only-binary :all: "${zig[@]}"
    echo "${zig[*]}" >"$tools/zig/recipe"
fi
# It packs a megabyte: unoptimised it is built in half the time. Without its default features it compresses
# with gzip, which every Debian has, and needs no liblzma.
deb=(cargo-deb@3.8.0 --no-default-features --debug)
if ! installed deb "${deb[*]}"; then
    env -u CARGO_TARGET_DIR cargo install --locked --force --root "$tools/deb" "${deb[@]}"
    echo "${deb[*]}" >"$tools/deb/recipe"
fi

id=$(cargo pkgid --locked)
version=${id##*[#@]}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

# Not RUSTFLAGS, which splits a path at its spaces.
separator=$'\x1f'
CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo
CARGO_ENCODED_RUSTFLAGS+=$separator--remap-path-prefix=$root=/slidewin
export CARGO_ENCODED_RUSTFLAGS
# From elsewhere, since zig names its headers relative to the directory above them that it runs in, and bindgen
# looks for them from another.
(cd src && CARGO_ZIGBUILD_PYTHON_PATH=$tools/zig/bin/python \
    CARGO_ZIGBUILD_CACHE_DIR=$tools/zig/cache ZIG_GLOBAL_CACHE_DIR=$tools/zig/cache/zig \
    "$tools/zig/bin/cargo-zigbuild" zigbuild --release --locked --target "$target.2.28")
module=target/$target/release/libslidewin.so

stage=target/dist
name=slidewin-$version-$target
rm -rf "$stage"
mkdir -p "$stage/$name" dist
echo '*' >dist/.gitignore
cargo tree --locked --target "$target" --edges normal,no-proc-macro --prefix none --format '{p}' |
    python3 packaging/licences.py "$target" >"$stage/LICENSE-THIRD-PARTY"

install -m 0755 "$module" "$stage/$name"
install -m 0644 README.md CHANGELOG.md LICENSE* redis.conf.example "$stage/LICENSE-THIRD-PARTY" "$stage/$name"
(cd "$stage/$name" && LC_ALL=C && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
LC_ALL=C tar --create --directory "$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
    --owner=0 --group=0 --numeric-owner --format=ustar "$name" | gzip -9n >"dist/$name.tar.gz"

# What [package.metadata.deb] names: the same files, and a path that is right for a package.
sed 's|^loadmodule /usr/local/|loadmodule /usr/|' redis.conf.example >"$stage/redis.conf.example"
"$tools/deb/bin/cargo-deb" --locked --no-build --no-strip --compress-type gz --target "$target" --output dist
echo "dist/$name.tar.gz"
