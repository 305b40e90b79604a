#!/usr/bin/env bash
# Fuzzes each target of fuzz/ for FUZZ_SECONDS (120), with address sanitizer, and fails at the first input that breaks
# its property. Installs cargo-fuzz below target/fuzz/ if it is missing. What it learns meanwhile stays below
# target/fuzz/; fuzz/corpus/ is only read.
#
#   scripts/fuzz.sh [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
cargo=${CARGO:-cargo}
# The sanitizers are options of nightly toolchains; the stable one has them too, and takes them with this.
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$target/fuzz

export PATH=$target/fuzz/bin:$PATH
command -v cargo-fuzz >/dev/null || "$cargo" install --locked --quiet --root "$target/fuzz" cargo-fuzz
(($#)) || set -- member arguments
for name in "$@"; do
    mkdir -p "$target/fuzz/corpus/$name"
    "$cargo" fuzz run "$name" "$target/fuzz/corpus/$name" "fuzz/corpus/$name" -- \
        -max_total_time="${FUZZ_SECONDS:-120}" -print_final_stats=1 -max_len=256
done
