"""slowapi over `slidewin://` in FastAPI: requests at once, a server that stops in the middle, and comes back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import redis
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from servers import wait_until
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded

import slidewin.limits  # noqa: F401 # registers the storage


def shop(server, **options):
    app = FastAPI()
    app.state.limiter = Limiter(
        lambda: "ann", strategy="moving-window", storage_uri=server.url.replace("redis", "slidewin"),
        headers_enabled=True, **options)
    app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)
    app.add_exception_handler(redis.ConnectionError, lambda _request, _error: Response("no redis", 503))

    @app.get("/")
    @app.state.limiter.limit("10/minute")
    def index(request: Request, response: Response):
        return "ok"

    return app


def statuses(app, count):
    client = TestClient(app)
    return [client.get("/").status_code for _ in range(count)]


def at_once(app, count):
    barrier = Barrier(count)

    def get(_):
        client = TestClient(app)
        barrier.wait()
        return client.get("/").status_code

    with ThreadPoolExecutor(count) as threads:
        return sorted(threads.map(get, range(count)))


def test_fifty_at_once(server):
    assert at_once(shop(server), 50) == [200] * 10 + [429] * 40


def test_headers(server):
    client = TestClient(shop(server))
    headers = client.get("/").headers
    assert (headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]) == ("10", "9")
    for _ in range(9):
        client.get("/")
    refused = client.get("/")
    assert refused.status_code == 429 and 55 <= int(refused.headers["Retry-After"]) <= 61


def test_down_and_back(mortal):
    app = shop(mortal)
    assert statuses(app, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    assert statuses(app, 3) == [503] * 3
    mortal.start()
    assert statuses(app, 12) == [200] * 10 + [429] * 2


def test_down_and_counted_in_memory(mortal):
    app = shop(mortal, in_memory_fallback=["3/minute"])
    assert statuses(app, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    assert statuses(app, 6) == [200] * 3 + [429] * 3
    mortal.start()
    seen = redis.Redis.from_url(mortal.url)
    wait_until("slowapi asks the server again", lambda: statuses(app, 1) and seen.dbsize())
    assert statuses(app, 10) == [200] * 9 + [429]
