#!/usr/bin/env bash
# Counts the instructions per call of SLIDEWIN.CHECK and fails when they grew by more than a tenth over what
# bench/instructions.json has for this server, both compared with the bare calls. Needs valgrind. Exits with 77 where
# nothing is recorded.
#
#   bench/instructions.sh [--record] [--keep DIR]
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" instructions.py "$@"
