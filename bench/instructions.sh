#!/usr/bin/env bash
# Counts the instructions per call of SLIDEWIN.CHECK and fails when they grew by more than a tenth
# over what bench/instructions.json has for this toolchain.
#
#   bench/instructions.sh [--record] [--keep DIR]
set -euo pipefail

if ! command -v valgrind >/dev/null; then
    echo "skipped: no valgrind, instructions per call are not counted"
    exit 0
fi
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" instructions.py "$@"
