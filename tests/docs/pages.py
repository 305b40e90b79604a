"""What the tests of docs/ share: stock servers of each version, and the tables of the pages."""

import functools
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
import servers

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("redis-6.2", "redis-7.0", "redis-8.2", "valkey-8.0", "valkey-8.1", "valkey-9.1")


@functools.cache
def available():
    """The versions that this system can have: Valkey 8.0 only comes with some."""
    return subprocess.check_output([ROOT / "scripts/servers.sh", "--list"], text=True).split()


@contextmanager
def stock(version, *args, **options):
    """A server of that version as it comes, with the module: no command is enabled that is not by default.

    Only a replica that comes does not wait for others.
    """
    if version not in available():
        pytest.skip(f"this system has no {version}")
    ours, servers.SERVER = servers.SERVER, str(ROOT / "target/servers" / version / "server")
    try:
        server = servers.Server("--repl-diskless-sync-delay", "0", *args, **options)
    finally:
        servers.SERVER = ours
    with server:
        yield server


def page(name):
    return (ROOT / "docs" / name).read_text()


def rows(text, heading):
    """The cells of each row of the table whose first heading is that."""
    lines = text.splitlines()
    below = [
        n + 1 for n, line in enumerate(lines) if line.startswith("|--") and lines[n - 1].startswith(f"| {heading} |")
    ]
    assert len(below) == 1, f"{len(below)} tables begin with {heading}"
    for line in lines[below[0] :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split(" | ")]
