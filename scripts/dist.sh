#!/usr/bin/env bash
# Builds the packages: dist/slidewin-VERSION-TARGET.tar.gz and dist/*.deb.
#
#   scripts/dist.sh [TARGET]    a Rust target *-unknown-linux-gnu, by default this machine's
#
# The module is that of scripts/portable.sh. The same commit gives the same bytes: no date, owner or path of this machine
# gets in. The tools are installed below target/tools/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022
root=$PWD
tools=$root/target/tools
export CARGO_TARGET_DIR=$root/target

target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
# It packs a megabyte: unoptimised it is built in half the time. Without its default features it compresses
# with gzip, which every Debian has, and needs no liblzma.
deb=(cargo-deb@3.8.0 --no-default-features --debug)
if [[ $(cat "$tools/deb/recipe" 2>/dev/null) != "${deb[*]}" ]]; then
    env -u CARGO_TARGET_DIR cargo install --locked --force --root "$tools/deb" "${deb[@]}"
    echo "${deb[*]}" >"$tools/deb/recipe"
fi

id=$(cargo pkgid --locked)
version=${id##*[#@]}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

module=$(scripts/portable.sh "$target" --release)

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

# What [package.metadata.deb] names: the same files, the module where cargo puts it, and a path that is right for a package.
sed 's|^loadmodule /usr/local/|loadmodule /usr/|' redis.conf.example >"$stage/redis.conf.example"
cp "$module" "target/$target/release/libslidewin.so"
"$tools/deb/bin/cargo-deb" --locked --no-build --no-strip --compress-type gz --target "$target" --output dist
echo "dist/$name.tar.gz"
