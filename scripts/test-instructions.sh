#!/usr/bin/env bash
# Whether a call still takes the instructions that are recorded: bench/instructions.sh, as one test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if bench/instructions.sh; then
    echo '1 passed, 0 failed'
else
    echo '0 passed, 1 failed'
    exit 1
fi
