#!/usr/bin/env bash
# Tests the Python package with real servers: its types by mypy, all else by pytest.
#
#   clients/python/test.sh [ARGUMENT OF PYTEST...]    installs below target/clients/ what it needs
#
# SLIDEWIN_MODULE is the module to test, else it is built; REDIS_SERVER the server, else `redis-server`.
set -euo pipefail

# shellcheck source=tests/clients/install.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tests/clients/install.sh"
cd "$root/clients/python"

# Django 5.2 is the last that runs on Python 3.10 and 3.11.
python_packages python-package redis==8.1.0 limits==5.8.0 Flask-Limiter==4.1.1 slowapi==0.1.10 fastapi==0.165.0 \
    httpx==0.28.1 Django==5.2.19 djangorestframework==3.18.3 \
    pytest==9.2.0 pytest-asyncio==1.5.0 mypy==2.4.1 hatchling==1.31.0 build==1.6.1
flock -u 9

python=$installed/python-package/bin/python
"$python" -m mypy --cache-dir "$installed/mypy"
exec "$python" -m pytest -o cache_dir="$installed/pytest" "$@"
