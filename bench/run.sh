#!/usr/bin/env bash
# Measures SLIDEWIN.CHECK against what people use today and against the server's own floor; see README.md.
# Writes bench/results/{results.json,table.md,chart.svg}. Ends within ten minutes.
#
#   bench/run.sh [--rounds 5] [--scale 1] [--seconds 480] [--out DIR]
#   REDIS_SERVER=path  SLIDEWIN_MODULE=path  PEER_MODULE=path PEER_COMMAND='CL.THROTTLE {key} {limit} {limit} {window}'
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" run.py "$@"
