"""Rate limits for Flask routes: one SLIDEWIN.CHECK each. Lift this file out; it needs flask and redis."""

import math
import os
import threading
import time
from collections import Counter, defaultdict, deque
from functools import wraps

import redis
from flask import current_app, g, make_response
from redis.backoff import NoBackoff
from redis.retry import Retry

BUDGET_S = 0.05  # the most that a request waits for Redis
PAUSE_S = 1  # after a failure, as long nobody waits for it at all; then the next request tries again

r = redis.Redis.from_url(
    os.environ.get("REDIS_URL", "redis://localhost"),
    socket_timeout=BUDGET_S,
    socket_connect_timeout=BUDGET_S,
    retry=Retry(NoBackoff(), 0),  # redis-py would try ten times
)
without_redis = Counter()  # decisions made without it, by what was decided
paused_until = 0


def ask(*command):
    """The answer of Redis; None if it is down or slow, now or within the last second."""
    global paused_until
    if time.monotonic() < paused_until:
        return None
    try:
        return r.execute_command(*command)
    except redis.RedisError as error:
        paused_until = time.monotonic() + PAUSE_S
        current_app.logger.warning("no limits from Redis: %s", error)
        return None


def limited(name, window, limit, by, when_down):
    """Limits a route to `limit` requests in any `window` seconds for each value of by().

    when_down is the choice for the day Redis is down: "open" serves, "closed" answers 503, "local" counts in this
    process alone. The view can undo its own request's count with g.give_back().
    """

    def decorate(view):
        @wraps(view)
        def limited_view(*args, **kwargs):
            key = f"{name}:{by()}"
            answer = ask("SLIDEWIN.CHECK", key, window, limit, "RECEIPT", "WITHQUOTA")
            g.give_back = lambda: answer and ask("SLIDEWIN.REFUND", key, answer[0])
            if answer is None:
                without_redis[when_down] += 1
                if when_down == "open":
                    return view(*args, **kwargs)
                if when_down == "closed":
                    return "Please try again in a moment.\n", 503, {"Retry-After": PAUSE_S}
                answer, g.give_back = count_here(key, window, limit), lambda: None
            admitted, _, remaining, retry_after_ms, reset_after_ms = answer
            response = make_response(view(*args, **kwargs) if admitted else ("Too many requests.\n", 429))
            response.headers.add("RateLimit-Policy", f'"{name}";q={limit};w={window}')
            response.headers.add("RateLimit", f'"{name}";r={remaining};t={math.ceil(reset_after_ms / 1000)}')
            if not admitted and retry_after_ms > 0:
                response.headers["Retry-After"] = math.ceil(retry_after_ms / 1000)
            return response

        return limited_view

    return decorate


logs, lock = defaultdict(deque), threading.Lock()


def count_here(key, window, limit):
    """What SLIDEWIN.CHECK answers, from this process's memory: with N processes up to N times the limit."""
    with lock:
        now = time.monotonic()
        if len(logs) > 10_000:  # it only bridges an outage: bounded memory matters more than every key
            logs.clear()
        log = logs[key]
        while log and log[0] <= now - window:
            log.popleft()
        admitted = len(log) < limit
        if admitted:
            log.append(now)
        ms_left = [math.ceil((at + window - now) * 1000) for at in (log[0], log[-1])] if log else [-1, 0]
        return [int(admitted), limit, limit - len(log), 0 if len(log) < limit else ms_left[0], ms_left[1]]
