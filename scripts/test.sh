#!/usr/bin/env bash
# Runs every part of the tests, also behind one that fails, and says at the end how many ran.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh build redis python valgrind
export SLIDEWIN_MODULE=$PWD/target/release/libslidewin.so

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 summary=()

# part NAME COMMAND...: the counts are those of cargo's lines, or of the command's own last one.
part() {
    local name=$1 status=0 counts
    shift
    printf '\n=== %s\n' "$name"
    SECONDS=0
    "$@" 2>&1 | tee "$log" || status=$?
    counts=$(awk '
        /^test result:/ { passed += $4; failed += $6 }
        /^[0-9]+ passed, [0-9]+ failed/ { last_passed = $1; last_failed = $3; own = 1 }
        END { print own ? last_passed : passed + 0, own ? last_failed : failed + 0 }' "$log")
    read -r part_passed part_failed <<<"$counts"
    # A part that ends badly without having counted a failure has failed all the same, and so has an empty one.
    if ((status != 0 && part_failed == 0)) || ((part_passed + part_failed == 0)); then part_failed=1; fi
    passed=$((passed + part_passed)) failed=$((failed + part_failed))
    summary+=("$(printf '%-34s %5d passed %3d failed %5d s' "$name" "$part_passed" "$part_failed" "$SECONDS")")
}

part 'unit and property tests' "${CARGO:-cargo}" test --locked --lib
part 'integration, installed Redis' "${CARGO:-cargo}" test --locked --test server
part 'integration, newest servers' scripts/test-servers.sh redis-8.2 valkey-9.1
part 'clients, recipes, migrating' scripts/test-clients.sh
part 'examples' scripts/test-examples.sh
part 'monitoring' scripts/test-monitoring.sh
part 'instructions per call' scripts/test-instructions.sh

printf '\n'
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
((failed == 0))
