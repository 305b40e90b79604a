"""One server and one cluster for all tests of the clients, empty at the start of each test."""

import importlib

import pytest
from servers import Cluster, Server


@pytest.fixture(scope="session")
def the_server():
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def the_cluster():
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def server(the_server):
    the_server.command("FLUSHALL")
    return the_server


@pytest.fixture
def cluster(the_cluster):
    for node in the_cluster.nodes:
        node.command("FLUSHALL")
    return the_cluster


@pytest.fixture
def example(server, request, monkeypatch):
    """The module beside test_NAME.py that has its name: it connects to REDIS_URL when it is imported."""
    monkeypatch.setenv("REDIS_URL", server.url)
    return importlib.import_module(request.module.__name__.removeprefix("test_"))
