#!/usr/bin/env bash
# Runs the integration tests on several servers with one and the same module.
#
#   scripts/test-servers.sh [NAME...]    the names of `scripts/servers.sh --list`; without one, all of them
#
# SLIDEWIN_MODULE is the module to test, else it is built; SLIDEWIN_LONG=1 runs what takes long in full.
# The exit code is 0 if on each server some tests ran and none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

if (($#)); then names=("$@"); else mapfile -t names < <(scripts/servers.sh --list); fi
if [[ ! ${SLIDEWIN_MODULE-} ]]; then
    "$cargo" build --release --locked --quiet
    SLIDEWIN_MODULE=${CARGO_TARGET_DIR:-$PWD/target}/release/libslidewin.so
fi
export SLIDEWIN_MODULE
mapfile -t servers < <(scripts/servers.sh "${names[@]}")
((${#servers[@]} == ${#names[@]})) || exit 1 # it has said why
"$cargo" test --locked --quiet --test server --no-run

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed_on=()
for nth in "${!names[@]}"; do
    printf '\n=== %s: %s\n' "${names[nth]}" "$("${servers[nth]}" --version)"
    SECONDS=0
    # With --show-output a test can say that this server cannot run it, and why.
    status=0
    REDIS_SERVER=${servers[nth]} "$cargo" test --locked --quiet --test server -- --show-output >"$log" 2>&1 ||
        status=$?
    # Cargo is content with no test at all.
    if ((status == 0)) && grep -q '^test result: ok\. [1-9]' "$log"; then
        grep -E '^(not run: |test result: )' "$log"
    else
        cat "$log"
        failed_on+=("${names[nth]}")
    fi
    echo "${SECONDS} s"
done

((${#failed_on[@]} == 0)) || { printf '\nfailed on: %s\n' "${failed_on[*]}"; exit 1; }
