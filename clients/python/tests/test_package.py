"""What is published: the wheel and the sdist, installed into an empty folder, and the README's first block from there."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--no-isolation", "--outdir", folder, PROJECT)
    return folder


def run(*args, **options):
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_contents(built):
    sources = {f"slidewin/{path.name}" for path in (PROJECT / "src/slidewin").iterdir() if path.is_file()}
    assert "slidewin/py.typed" in sources
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    assert {name for name in names if name.startswith("slidewin/")} == sources
    assert {name.rpartition("/")[2] for name in names if "licenses" in name} == {"LICENSE-MIT", "LICENSE-APACHE"}
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE-MIT", "tests/test_package.py"} <= inside
    assert {f"src/{source}" for source in sources} <= inside


def test_the_first_block_of_the_readme(built, server, client, tmp_path):
    """From an empty folder with nothing but the wheel and what it needs."""
    (wheel,) = built.glob("*.whl")
    packages = tmp_path / "packages"
    run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", packages, wheel)
    block = re.search(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL).group(1)
    (tmp_path / "first.py").write_text(block)
    # -S leaves out this environment's own packages.
    environment = {**os.environ, "REDIS_URL": server.url, "PYTHONPATH": str(packages)}
    first = lambda: run("-S", "first.py", cwd=tmp_path, env=environment)
    assert first() == "admitted, 99 left\n"
    client.execute_command("SLIDEWIN.CHECK", "user:42", "1m", 100, "COST", 99)
    assert re.fullmatch(r"refused, try again in \d+ ms\n", first())
