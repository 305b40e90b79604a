#!/usr/bin/env bash
# Runs the tests and says how many ran.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SLIDEWIN_MODULE=${SLIDEWIN_MODULE:-$PWD/target/release/libslidewin.so}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"${CARGO:-cargo}" test --locked 2>&1 | tee "$log" || status=$?
awk '/^test result:/ { passed += $4; failed += $6 } END { printf "%d passed, %d failed\n", passed, failed }' "$log"
exit "$status"
