"""Rate limits for Flask routes. Lift this file out; it needs flask, slidewin and limits."""

import math
import os
import time
from collections import Counter
from functools import wraps

import redis
from flask import current_app, g, make_response
from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from slidewin import Decision, Paused, Slidewin, Standing, ratelimit_headers

PAUSE_S = 1  # after a failure nobody waits for Redis for this long; then the next request tries again
limiter = Slidewin.from_url(
    os.environ.get("REDIS_URL", "redis://localhost"),
    pause_s=PAUSE_S,
    socket_timeout=0.05,  # the most that a request waits for Redis
    socket_connect_timeout=0.05,
)
here = MovingWindowRateLimiter(MemoryStorage())
without_redis = Counter()  # decisions made without it, by what was decided


def limited(name, window, limit, by, when_down):
    """Limits a route to `limit` requests in any `window` seconds for each value of by().

    when_down is the choice for the day Redis is down: "open" serves, "closed" answers 503, "local" counts in this
    process alone. The view can undo its own request's count with g.give_back().
    """

    def decorate(view):
        @wraps(view)
        def limited_view(*args, **kwargs):
            key = f"{name}:{by()}"
            try:
                decision = limiter.check(key, window, limit)
                g.give_back = lambda: give_back(key, decision.receipt)
            except redis.RedisError as error:
                log(error)
                without_redis[when_down] += 1
                g.give_back = lambda: None
                if when_down == "open":
                    return view(*args, **kwargs)
                if when_down == "closed":
                    return "Please try again in a moment.\n", 503, {"Retry-After": PAUSE_S}
                decision = count_here(key, window, limit)
            response = make_response(view(*args, **kwargs) if decision else ("Too many requests.\n", 429))
            for header in ratelimit_headers(name, window, decision).items():
                response.headers.add(*header)
            return response

        return limited_view

    return decorate


def give_back(key, receipt):
    try:
        limiter.refund(key, receipt)
    except redis.RedisError as error:
        log(error)


def log(error):
    if not isinstance(error, Paused):  # one failure is logged once
        current_app.logger.warning("no limits from Redis: %s", error)


def count_here(key, window, limit):
    """A decision from this process's memory: with N processes up to N times the limit."""
    item = RateLimitItemPerSecond(limit, window)
    admitted = here.hit(item, key)
    stats = here.get_window_stats(item, key)
    left_ms = math.ceil((stats.reset_time - time.time()) * 1000)
    return Decision(admitted, None, (Standing(limit, stats.remaining, 0 if stats.remaining else left_ms, left_ms, left_ms),))
