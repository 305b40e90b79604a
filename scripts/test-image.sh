#!/usr/bin/env bash
# Starts an image that the Dockerfile made and looks at what a key with the limit 1 answers to two calls.
#
#   scripts/test-image.sh IMAGE
set -euo pipefail
image=${1:?"usage: scripts/test-image.sh IMAGE"}

container=$(docker run --detach "$image")
trap 'docker rm --force "$container" >/dev/null' EXIT
for ((try = 0; try < 100; try++)); do
    [[ $(docker exec "$container" redis-cli PING 2>/dev/null) != PONG ]] || break
    sleep 0.1
done
answers=$(docker exec --interactive "$container" redis-cli <<<$'SLIDEWIN.CHECK k 60 1\nSLIDEWIN.CHECK k 60 1')
if [[ $answers != $'1\n0' ]]; then
    echo "wanted 1 and 0, got: $answers" >&2
    docker logs "$container" >&2
    exit 1
fi
echo "$image answers"
