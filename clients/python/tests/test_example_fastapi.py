"""examples/fastapi over HTTP requests to the app itself, also while Redis is down."""

import importlib.util
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from servers import wait_until

SHOP = Path(__file__).resolve().parents[3] / "examples/fastapi/shop.py"


@pytest.fixture
def shop(mortal, monkeypatch):
    monkeypatch.setenv("REDIS_URL", mortal.url)
    spec = importlib.util.spec_from_file_location("fastapi_shop", SHOP)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fastapi_shop", module)
    spec.loader.exec_module(module)
    # A busy machine may need more than 50 ms: this is about counts, not times.
    module.attempts.client.connection_pool.connection_kwargs["socket_timeout"] = 5
    module.limiter._storage.storage.connection_pool.connection_kwargs["socket_timeout"] = 5
    with TestClient(module.app) as client:  # one event loop for all requests
        yield client


def login(shop, user, password="correct horse"):
    return shop.post("/login", json={"user": user, "password": password})


def test_page(shop):
    answers = [shop.get("/") for _ in range(101)]
    assert [answer.status_code for answer in answers] == [200] * 100 + [429]
    assert answers[0].headers["X-RateLimit-Remaining"] == "99"
    assert 55 <= int(answers[100].headers["Retry-After"]) <= 61


def test_login(shop):
    assert {login(shop, "eve").status_code for _ in range(20)} == {200}, "all given back"
    assert [login(shop, "eve", "guess").status_code for _ in range(5)] == [401] * 5
    refused = login(shop, "eve")
    assert refused.status_code == 429 and 280 <= int(refused.headers["Retry-After"]) <= 300
    assert refused.headers["RateLimit-Policy"] == '"login";q=5;w=300'
    assert login(shop, "fay").status_code == 200


def test_down_and_back(shop, mortal):
    assert shop.get("/search").headers["X-RateLimit-Remaining"] == "29"
    mortal.kill()
    assert [shop.get("/search").status_code for _ in range(31)] == [200] * 30 + [429], "counted in this process"
    closed = login(shop, "gus")
    assert closed.status_code == 503 and closed.headers["Retry-After"] == "1"
    mortal.start()
    wait_until("the login is back", lambda: login(shop, "gus").status_code == 200)
    wait_until("the search is back", lambda: shop.get("/search").status_code == 200)
