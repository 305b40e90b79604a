"""The clients of other languages: a program each, which its language's own test runner runs against our servers."""

import os
import re
import subprocess

import pytest
from servers import ROOT

INSTALLED = ROOT / "target/clients"


def node_version():
    text = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.match(r"v(\d+)", text)[1])


def run(command, closing_line, server, cluster):
    """Passes if the command does, and its runner says at the end that it passed some tests."""
    environment = {**os.environ, "REDIS_URL": server.url, "REDIS_CLUSTER": cluster.addresses}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240
    )
    passed = sum(map(int, re.findall(closing_line, done.stdout, re.M)))
    assert done.returncode == 0 and passed > 0, f"{done.stdout}\nexit code {done.returncode}, {passed} tests passed"


@pytest.mark.parametrize("client", ["node_redis", "ioredis"])
@pytest.mark.parametrize("oldest_node", [18, 20])
def test_node(server, cluster, client, oldest_node):
    """With the newest release of the client that runs on this Node.js."""
    if node_version() < oldest_node:
        pytest.skip(f"the newest {client} needs Node.js {oldest_node}, this is {node_version()}")
    program = INSTALLED / f"node-{oldest_node}" / f"{client}.mjs"
    run(["node", "--test-reporter=tap", program], r"^# pass (\d+)$", server, cluster)


def test_rust(server, cluster):
    manifest = ROOT / "tests/clients/rust/Cargo.toml"
    command = ["cargo", "test", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", INSTALLED / "rust"]
    run(command, r"^test result: ok\. (\d+) passed", server, cluster)
