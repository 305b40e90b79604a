"""The code of docs/migrating.md, before and after. test_migrating.py runs it against a real server.

What stands between snippet:NAME:start and snippet:NAME:end is in the document, word for word: tested too.
"""

import math
import os
import random
import time

import redis

r = redis.Redis.from_url(os.environ["REDIS_URL"])


# snippet:zset-before:start
SCRIPT = """
local now, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - window)
if redis.call('ZCARD', KEYS[1]) >= limit then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[4])
redis.call('PEXPIRE', KEYS[1], window)
return 1
"""


def admit_before(user):
    now = int(time.time() * 1000)
    return r.eval(SCRIPT, 1, f"limit:{user}", now, 60_000, 100, f"{now}-{random.random()}")
# snippet:zset-before:end


# snippet:zset-after:start
def admit_after(user):
    return r.execute_command("SLIDEWIN.CHECK", f"slidewin:{user}", "60s", 100)
# snippet:zset-after:end


# snippet:carry-over:start
def carry_over(old, new, window_ms, us_per_unit=1000):
    """Copies a log whose scores count ms (us_per_unit: of seconds 1_000_000) to a new key, as the module keeps it."""
    log, at = {}, 0
    for total, (_, score) in enumerate(r.zrange(old, 0, -1, withscores=True), 1):
        at = max(int(score * us_per_unit), at + 1)  # scores of ours strictly increase
        log[total] = at
    if log:
        with r.pipeline(transaction=True) as pipeline:
            pipeline.zadd(new, log)
            pipeline.pexpire(new, window_ms)
            pipeline.execute()
# snippet:carry-over:end


# snippet:cell-after:start
def throttle(key, max_burst, count, period, quantity=1):
    """CL.THROTTLE's arguments, and its five fields. `max_burst` has no part in it: see below."""
    command = ("SLIDEWIN.CHECK", key, period, count, "COST", quantity, "WITHQUOTA")
    if quantity == 0:
        command = ("SLIDEWIN.PEEK", key, period, count, "WITHQUOTA")
    admitted, limit, remaining, retry_after_ms, reset_after_ms = r.execute_command(*command)
    limited = 0 if admitted else 1
    retry_after = math.ceil(retry_after_ms / 1000) if limited and retry_after_ms > 0 else -1
    return [limited, limit, remaining, retry_after, math.ceil(reset_after_ms / 1000)]
# snippet:cell-after:end


# snippet:incr-before:start
def count_before(user):
    key = f"count:{user}"
    count = r.incr(key)
    if count == 1:
        r.expire(key, 60)
    return int(count <= 100)
# snippet:incr-before:end


# snippet:incr-after:start
def count_after(user):
    return r.execute_command("SLIDEWIN.CHECK", f"slidewin:count:{user}", 60, 100)
# snippet:incr-after:end
