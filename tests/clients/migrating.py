"""docs/migrating.md: each before and after, and each claim, against a real server. Run by scripts/test-clients.sh.

What stands between snippet:NAME:start and snippet:NAME:end is in the document, word for word: tested too.
"""

import math
import os
import random
import re
import time
from pathlib import Path

import redis
from servers import ROOT
from table import fits, test

r = redis.Redis.from_url(os.environ["REDIS_URL"])
check = lambda *arguments: r.execute_command("SLIDEWIN.CHECK", *arguments)
peek = lambda *arguments: r.execute_command("SLIDEWIN.PEEK", *arguments)


def test_equal(name, got, want):
    """Times in a list are given as table.json has them: '~60000'."""
    test(name, got == want or isinstance(want, list) and fits(want, got), f"{got!r}, want {want!r}")


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


def test_zset():
    for name, admit in (("before", admit_before), ("after", admit_after)):
        test_equal(f"zset {name}: 100 and no more", [admit("ann") for _ in range(103)], [1] * 100 + [0] * 3)

    colliding = [r.eval(SCRIPT, 1, "colliding", 1000, 60_000, 3, 1000) for _ in range(10)]
    test_equal("zset before: a member that is its time admits all of one instant", sum(colliding), 10)

    carry_over("limit:ann", "carried:ann", 60_000)
    test_equal("carried over: full", check("carried:ann", 60, 100), 0)
    test_equal("carried over: every entry", peek("carried:ann", 60, 101, "WITHQUOTA")[:3], [1, 101, 1])
    oldest_ms = r.zrange("limit:ann", 0, 0, withscores=True)[0][1]
    *_, retry_ms, _ = peek("carried:ann", 60, 100, "WITHQUOTA")
    left_ms = oldest_ms + 60_000 - time.time() * 1000
    test("carried over: with its time", abs(retry_ms - left_ms) < 1000, f"{retry_ms} and {left_ms}")
    test("carried over: with an expiry", 0 < r.pttl("carried:ann") <= 60_000)
    now_s = time.time()
    r.zadd("in seconds", {f"m{i}": int(now_s) for i in range(5)})
    carry_over("in seconds", "from seconds", 60_000, 1_000_000)
    test_equal("carried over from seconds", peek("from seconds", 60, 10, "WITHQUOTA")[:3], [1, 10, 5])
    carry_over("missing", "from missing", 60_000)
    test_equal("carried over from nothing", r.exists("from missing"), 0)


def old_log(key, per_second, member, seconds_ago=(5, 4, 3, 2, 1), ttl_ms=60_000):
    now = time.time()
    r.delete(key)
    for ago in seconds_ago:
        at = int((now - ago) * per_second)
        r.zadd(key, {member(at): at})
    if ttl_ms:
        r.pexpire(key, ttl_ms)


def suffixed(at):
    return f"{at}-{random.random()}"


def test_same_name():
    """What CHECK and PEEK make of a log that another script has left under the name."""
    for unit, per_second in (("seconds", 1), ("ms", 1000)):
        for ttl_ms in (60_000, 3_600_000, None):
            for member in (suffixed, str):
                name = f"same name: {unit}, TTL {ttl_ms}, {member.__name__}"
                old_log("same", per_second, member, ttl_ms=ttl_ms)
                test_equal(f"{name}: reads as empty", peek("same", 60, 5, "WITHQUOTA"), [1, 5, 5, 0, 0])
                test("and is not touched by PEEK", r.zcard("same") == 5)
                test_equal(f"{name}: starts afresh", check("same", 60, 5, "WITHQUOTA"), [1, 5, 4, 0, "~60000"])
                test_equal(f"{name}: the old entries are gone", r.zcard("same"), 1)
                test(f"{name}: TTL", 59_000 < r.pttl("same") <= 67_502, r.pttl("same"))
    for name, ttl_ms, most_ms in (("60 s", 60_000, 67_502), ("none", None, 67_502), ("1 h", 3_600_000, 3_600_002)):
        old_log("same", 1e6, suffixed, ttl_ms=ttl_ms)
        test_equal(f"same name: µs, TTL {name}: count", check("same", 60, 7, "WITHQUOTA"), [1, 7, 1, 0, "~60000"])
        test_equal(f"same name: µs, TTL {name}: kept", r.zcard("same"), 6)
        test(f"same name: µs, TTL {name}: TTL", most_ms * 0.8 < r.pttl("same") <= most_ms + 5000, r.pttl("same"))
    old_log("same", 1e6, str)
    test_equal("same name: µs, member its time: count", check("same", 60, 7, "WITHQUOTA"), [1, 7, 1, 0, "~60000"])
    old_log("same", 1e9, suffixed, seconds_ago=(90, 80, 3, 2, 1))
    test_equal("same name: ns: count afresh, also the expired", check("same", 60, 7, "WITHQUOTA"), [1, 7, 1, 0, "~60000"])
    test("same name: ns: TTL", 59_000 < r.pttl("same") <= 67_505, r.pttl("same"))


def test_both_at_once():
    """During a deployment the old script and the module meet under one name."""
    expire = "redis.call('PEXPIRE', KEYS[1], window)"
    refreshing = SCRIPT.replace(expire, "").replace("if redis", f"{expire}\nif redis")  # on refusals too
    script = lambda: r.eval(refreshing, 1, "both", int(time.time() * 1000), 2000, 3, suffixed(0))
    test_equal("both: the module admits 3", [check("both", 2, 3) for _ in range(4)], [1, 1, 1, 0])
    answers = []
    for _ in range(11):
        answers.append(script())
        time.sleep(0.2)
    test_equal("both: the script sees them, and never sees them leave", answers, [0] * 11)
    test_equal("both: for the module they have left", check("both", 2, 3), 1)
    test_equal("both: but it keeps them: the refreshed expiry reads as a longer window", r.zcard("both"), 4)
    test_equal("both: so the script still refuses", script(), 0)
    r.delete("both")
    test_equal("both: what the script admits", [check("both", 2, 3), script(), script(), script()], [1, 1, 1, 0])
    test_equal("both: the module does not see", peek("both", 2, 3, "WITHQUOTA")[:3], [1, 3, 2])


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


def gcra(max_burst, count, period):
    """CL.THROTTLE's decision, as redis-cell's source has it: a model, since the module is not here to be asked."""
    interval, state = period / count, {"tat": 0.0}

    def admits(now):
        tat = max(now, state["tat"]) + interval
        admitted = tat - interval * (max_burst + 1) <= now
        state["tat"] = tat if admitted else state["tat"]
        return admitted

    return admits


def test_cell():
    test_equal("cell: allowed", throttle("cell", 15, 30, 60), [0, 30, 29, -1, 60])
    test_equal("cell: quantity", throttle("cell", 15, 30, 60, 9), [0, 30, 20, -1, 60])
    test_equal("cell: quantity 0 looks", throttle("cell", 15, 30, 60, 0), [0, 30, 20, -1, 60])
    test_equal("cell: limited", throttle("cell", 15, 30, 60, 21), [1, 30, 20, 60, 60])
    test_equal("cell: more than there ever are", throttle("cell", 15, 30, 60, 31), [1, 30, 20, -1, 60])
    admits = gcra(15, 30, 60)
    test_equal("cell: `15 30 60` admits 45 in its first minute", sum(admits(ms / 1000) for ms in range(60_000)), 45)
    test_equal("cell: with a second window: 16 at once", sum(check("cell2", 60, 30, 30, 16) for _ in range(40)), 16)
    r.set("cell3", 1_700_000_000_000_000_000, ex=60)
    try:
        check("cell3", 60, 30)
        test("cell: its key is of another type", False, "no error")
    except redis.ResponseError as error:
        test("cell: its key is of another type", "wrong kind of value" in str(error), error)
    test("cell: and is left as it was", r.get("cell3") == b"1700000000000000000" and 50 < r.ttl("cell3") <= 60)


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


def test_incr():
    for name, admit in (("before", count_before), ("after", count_after)):
        test_equal(f"incr {name}: 100 and no more", [admit("bob") for _ in range(103)], [1] * 100 + [0] * 3)

    # One call opens the counter's window, 99 come at its end and 100 at the beginning of the next.
    r.delete("count:bob")
    admitted = count_before("bob")
    r.pexpire("count:bob", 300)  # the 60 s are nearly over
    admitted += sum(count_before("bob") for _ in range(99))
    while r.exists("count:bob"):
        time.sleep(0.01)
    admitted += sum(count_before("bob") for _ in range(100))
    test_equal("incr before: 200 in a moment", admitted, 200)

    # The same a minute after the first call, which alone has left.
    now_us = time.time_ns() // 1000
    r.delete("slidewin:count:bob")
    r.zadd("slidewin:count:bob", {1: now_us - 60_000_001, **{2 + i: now_us - 300_000 + i for i in range(99)}})
    test_equal("incr after: one has left, so one is admitted", sum(count_after("bob") for _ in range(100)), 1)

    r.set("count:cat", 1)  # a client that dies between INCR and EXPIRE leaves this
    test_equal("incr before: without EXPIRE for ever", (count_before("cat"), r.ttl("count:cat")), (1, -1))
    count_after("cat")
    test("incr after: with an expiry from the first call", 59 <= r.ttl("slidewin:count:cat") <= 68)


def test_document():
    document = (ROOT / "docs/migrating.md").read_text()
    source = Path(__file__).read_text()
    snippets = re.findall(r"^# snippet:([\w-]+):start\n(.*?)^# snippet:\1:end$", source, re.M | re.S)
    test_equal("the snippets", len(snippets), 6)
    for name, snippet in snippets:
        test(f"docs/migrating.md has {name} as it is tested", f"```python\n{snippet}```" in document)


for run in (test_zset, test_same_name, test_both_at_once, test_cell, test_incr, test_document):
    run()
