"""Flask-Limiter over `slidewin://`: requests at once, a server that stops in the middle, and comes back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import redis
from flask import Flask
from flask_limiter import Limiter
from servers import wait_until

import slidewin.limits  # noqa: F401 # registers the storage


def shop(server, **options):
    """A client of an app with one route of 10 a minute."""
    app = Flask(__name__)
    limiter = Limiter(
        lambda: "ann", app=app, strategy="moving-window", storage_uri=server.url.replace("redis", "slidewin"),
        headers_enabled=True, **options)

    @app.get("/")
    @limiter.limit("10/minute")
    def index():
        return "ok"

    @app.get("/two")
    @limiter.limit("10/minute;2/hour")
    def two():
        return "ok"

    @app.errorhandler(redis.ConnectionError)
    def no_redis(_error):
        return "no redis", 503

    return app


def statuses(app, count, path="/"):
    return [app.test_client().get(path).status_code for _ in range(count)]


def at_once(app, count):
    barrier = Barrier(count)

    def get(_):
        barrier.wait()
        return app.test_client().get("/").status_code

    with ThreadPoolExecutor(count) as threads:
        return sorted(threads.map(get, range(count)))


def test_fifty_at_once(server):
    assert at_once(shop(server), 50) == [200] * 10 + [429] * 40


def test_headers(server):
    client = shop(server).test_client()
    headers = client.get("/").headers
    assert (headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]) == ("10", "9")
    for _ in range(9):
        client.get("/")
    refused = client.get("/")
    assert refused.status_code == 429 and refused.headers["X-RateLimit-Remaining"] == "0"
    assert 55 <= int(refused.headers["Retry-After"]) <= 61


def test_limits_are_asked_one_by_one(server, client):
    """As with every storage: what a later limit refuses has been charged to the earlier ones."""
    assert statuses(shop(server), 5, "/two") == [200, 200, 429, 429, 429]
    assert sorted(client.zcard(key) for key in client.keys("*")) == [2, 5]


def test_down_and_back(mortal):
    """Without a choice: the error of redis-py, for the app's error handler."""
    app = shop(mortal)
    assert statuses(app, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    assert statuses(app, 3) == [503] * 3
    mortal.start()
    assert statuses(app, 12) == [200] * 10 + [429] * 2


def test_down_and_swallowed(mortal):
    app = shop(mortal, swallow_errors=True)
    assert statuses(app, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    assert statuses(app, 20) == [200] * 20
    mortal.start()
    assert statuses(app, 12) == [200] * 10 + [429] * 2


@pytest.mark.parametrize(("options", "fallback"), [({"in_memory_fallback": ["3/minute"]}, 3),
                                                   ({"in_memory_fallback_enabled": True}, 10)])
def test_down_and_counted_in_memory(mortal, options, fallback):
    app = shop(mortal, **options)
    assert statuses(app, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    assert statuses(app, 12) == [200] * fallback + [429] * (12 - fallback)
    mortal.start()
    seen = redis.Redis.from_url(mortal.url)
    wait_until("Flask-Limiter asks the server again", lambda: statuses(app, 1) and seen.dbsize())
    assert statuses(app, 10) == [200] * 9 + [429]
