#!/usr/bin/env bash
# Runs every part of the tests, also behind one that fails, and says at the end how many ran.
#
# The last line is `N passed, N failed`, with `, N skipped` where something was; the exit code is 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh build redis python valgrind
export SLIDEWIN_MODULE=${SLIDEWIN_MODULE:-$PWD/target/release/libslidewin.so}
cargo=${CARGO:-cargo}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0 summary=() reasons=()

# count: passed, failed and skipped tests, from the closing lines of cargo, pytest and `node --test`, added up; or from
# the last `N passed, N failed[, N skipped]` of a script of ours. A test of cargo's cannot skip: it says `not run: WHY`.
count() {
    awk '
        function number(unit) { return match($0, "[0-9]+ " unit) ? substr($0, RSTART, RLENGTH) + 0 : 0 }
        /^test result:/ { passed += number("passed"); failed += number("failed") }
        /^not run: / { passed--; skipped++ }
        /^(=+ )?[0-9]+ [a-z]+(, [0-9]+ [a-z]+)* in [0-9.]+s/ {
            passed += number("passed"); failed += number("failed") + number("error"); skipped += number("skipped")
        }
        /^(#|ℹ) (pass|fail|cancelled|skipped|todo) [0-9]+$/ {
            if ($2 == "pass") passed += $3
            else if ($2 == "fail" || $2 == "cancelled") failed += $3
            else skipped += $3
        }
        /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { own = number("passed") " " number("failed") " " number("skipped") }
        END { print own ? own : passed + 0 " " failed + 0 " " skipped + 0 }' "$log"
}

# part NAME COMMAND...: a part that ends badly without a failed test has failed all the same, and so has one that ran
# nothing and skipped nothing.
part() {
    local name=$1 status=0 yes no not_run
    shift
    printf '\n=== %s\n' "$name"
    SECONDS=0
    "$@" 2>&1 | tee "$log" || status=$?
    read -r yes no not_run < <(count)
    if ((no == 0 && (status != 0 || yes + not_run == 0))); then
        no=1
        echo "FAILED: exit code $status of $*, after $yes tests"
    fi
    passed=$((passed + yes)) failed=$((failed + no)) skipped=$((skipped + not_run))
    summary+=("$(printf '%-34s %5d passed %3d failed %3d skipped %5d s' "$name" "$yes" "$no" "$not_run" "$SECONDS")")
    mapfile -t -O "${#reasons[@]}" reasons < <(grep -E '^(not run: |SKIPPED \[|skipped: |.* # SKIP)' "$log")
}

part 'core' "$cargo" test --locked --package slidewin-core --features memory
part 'core, tiny bundles' "$cargo" test --locked --package slidewin-core --features memory,tiny-bundles
part 'module, without a server' "$cargo" test --locked --lib
part 'integration, installed Redis' "$cargo" test --locked --test server -- --show-output
part 'integration, newest servers' scripts/test-servers.sh redis-8.2 valkey-9.1
part 'clients, recipes, migrating' scripts/test-clients.sh
part 'Python package' clients/python/test.sh
part 'Node.js package' clients/node/test.sh
part 'examples' scripts/test-examples.sh
part 'documents' tests/docs/test.sh
part 'monitoring' scripts/test-monitoring.sh
part 'instructions per call' scripts/test-instructions.sh

printf '\n'
printf '%s\n' "${reasons[@]}" "${summary[@]}"
closing="$passed passed, $failed failed"
((skipped == 0)) || closing+=", $skipped skipped"
echo "$closing"
((failed == 0))
