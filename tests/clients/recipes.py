"""The recipes that the README shows, each run against a real server. Run by scripts/test-clients.sh."""

# snippet:helpers:start
import os
from functools import partial

import redis

r = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost"), decode_responses=True)
check = partial(r.execute_command, "SLIDEWIN.CHECK")
peek = partial(r.execute_command, "SLIDEWIN.PEEK")
refund = partial(r.execute_command, "SLIDEWIN.REFUND")
# snippet:helpers:end

import time

from servers import wait_until
from table import fits, test


def test_equal(name, got, want):
    """Times are given as table.json has them: '~60000'."""
    test(name, got == want or isinstance(want, list) and fits(want, got), f"{got!r}, want {want!r}")


def put_earlier(key, *seconds_ago):
    """Writes a log of admissions as the module has it, oldest first."""
    now_us = time.time_ns() // 1000
    r.zadd(key, {1_000_000 + i: now_us - int(ago * 1e6) for i, ago in enumerate(seconds_ago)})
    r.expire(key, 100_000)


# snippet:ip:start
def view(ip):
    """100 views a minute for each address."""
    return check(f"view:{ip}", "1m", 100)
# snippet:ip:end


def test_ip():
    test_equal("ip: the 101st is refused", [view("203.0.113.1") for _ in range(102)], [1] * 100 + [0, 0])
    test_equal("ip: another address is not concerned", view("203.0.113.2"), 1)
    put_earlier("view:203.0.113.3", *(65 - i / 10 for i in range(100)))
    half = [view("203.0.113.3") for _ in range(100)]
    test("ip: what is older than a minute has left, what is younger has not", 50 <= sum(half) < 100, sum(half))


# snippet:login:start
def log_in(user, password):
    """5 failed attempts per 5 minutes. A success is given back, so it never counts against its user."""
    receipt = check(f"login:{user}", "5m", 5, "RECEIPT")
    if not receipt:
        return "too many attempts"
    if not is_right(user, password):
        return "wrong password"
    refund(f"login:{user}", receipt)
    return "welcome"
# snippet:login:end


def is_right(_user, password):
    return password == "secret"


def test_login():
    test_equal("login: successes never count", {log_in("ann", "secret") for _ in range(20)}, {"welcome"})
    test_equal("login: and leave nothing behind", r.exists("login:ann"), 0)
    test_equal("login: 5 failures", [log_in("bob", "guess") for _ in range(4)], ["wrong password"] * 4)
    test_equal("login: a success among them changes nothing", log_in("bob", "secret"), "welcome")
    test_equal("login: the fifth", log_in("bob", "guess"), "wrong password")
    test_equal("login: the sixth is not even tried", log_in("bob", "secret"), "too many attempts")
    test_equal("login: for 5 minutes", peek("login:bob", "5m", 5, "WITHQUOTA"), [0, 5, 0, "~300000", "~300000"])


# snippet:sms:start
def may_send_sms(number):
    """One a minute and 10 a day. What the minute refuses does not count for the day."""
    return check(f"sms:{number}", "1m", 1, "1d", 10)
# snippet:sms:end


def test_sms():
    test_equal("sms: one a minute", [may_send_sms("+1") for _ in range(3)], [1, 0, 0])
    quotas = peek("sms:+1", "1m", 1, "1d", 10, "WITHQUOTA")
    test_equal("sms: refused ones spent nothing", quotas, [0, 1, 0, "~60000", "~60000", 10, 9, 0, "~86400000"])
    hour = 3600
    put_earlier("sms:+2", *(ago * hour for ago in range(10, 0, -1)))
    test_equal("sms: 10 a day", may_send_sms("+2"), 0)
    quotas = peek("sms:+2", "1m", 1, "1d", 10, "WITHQUOTA")
    test_equal("sms: until the first is a day old", quotas, [0, 1, 1, 0, 0, 10, 0, "~50400000", "~82800000"])
    put_earlier("sms:+3", 24 * hour + 1, *(ago * hour for ago in range(9, 0, -1)))
    test_equal("sms: 9 in this day, and one before", [may_send_sms("+3"), may_send_sms("+3")], [1, 0])


# snippet:tokens:start
def ask(user, prompt, most=1000):
    """100,000 tokens a minute. The most it may cost is reserved, then settled: down by REFUND, up by FORCE."""
    key, quota = f"tokens:{user}", ("1m", 100_000)
    receipt = check(key, *quota, "COST", most, "RECEIPT")
    if not receipt:
        return None
    answer, used = model(prompt)
    if used < most:
        refund(key, receipt, "COST", most - used)
    elif used > most:
        check(key, *quota, "COST", used - most, "FORCE")
    return answer
# snippet:tokens:end


def model(prompt):
    return "42", prompt


def test_tokens():
    remaining = lambda user: peek(f"tokens:{user}", "1m", 100_000, "WITHQUOTA")[2]
    test_equal("tokens: settled down", (ask("ann", 400), remaining("ann")), ("42", 99_600))
    test_equal("tokens: one entry for a call", r.zcard("tokens:ann"), 1)
    test_equal("tokens: settled up", (ask("ann", 1500), remaining("ann")), ("42", 98_100))
    test_equal("tokens: as reserved", (ask("ann", 1000), remaining("ann")), ("42", 97_100))
    for _ in range(97):
        ask("ann", 1000)
    test_equal("tokens: 100 are left, 1000 would be reserved", (ask("ann", 10), remaining("ann")), (None, 100))
    test_equal("tokens: an answer above the limit is recorded", (ask("bob", 120_000), remaining("bob")), ("42", 0))
    test_equal("tokens: and refuses the next", ask("bob", 1), None)


# snippet:crawler:start
def crawl(ip):
    """20 pages per 10 seconds. Who is refused 50 times in 10 minutes does not slow down: banned for a day."""
    if r.exists(f"banned:{ip}"):
        return 403
    if check(f"page:{ip}", "10s", 20):
        return 200
    if not check(f"refused:{ip}", "10m", 50):
        r.set(f"banned:{ip}", 1, ex=86_400)
    return 429
# snippet:crawler:end


def test_crawler():
    answers = [crawl("203.0.113.9") for _ in range(80)]
    test_equal("crawler: refused, then banned", answers, [200] * 20 + [429] * 51 + [403] * 9)
    test("crawler: for a day", 86_000 < r.ttl("banned:203.0.113.9") <= 86_400)
    test_equal("crawler: who stays below is never counted", [crawl("203.0.113.10") for _ in range(20)], [200] * 20)
    test_equal("crawler: and has no log of refusals", r.exists("refused:203.0.113.10"), 0)


# snippet:sale:start
def buy(item, user):
    """One for each user, no two attempts within 100 ms; 500 a second for the item, spread over the second."""
    if not check(f"tap:{user}", "100ms", 1):
        return "not so fast"
    receipt = check(f"sale:{item}:{user}", "1d", 1, "RECEIPT")
    if not receipt:
        return "you have one"
    if not check(f"sale:{item}", "1s", 500, "100ms", 50):
        refund(f"sale:{item}:{user}", receipt)
        return "busy, try again"
    return "yours"
# snippet:sale:end


def test_sale():
    test_equal("sale: one, and no double click", [buy("shoe", "ann"), buy("shoe", "ann")], ["yours", "not so fast"])
    wait_until("100 ms later", lambda: peek("tap:ann", "100ms", 1))
    test_equal("sale: one for each user", buy("shoe", "ann"), "you have one")

    # The crowd comes at one instant: a transaction stands for 60 buyers.
    with r.pipeline(transaction=True) as crowd:
        for _ in range(60):
            crowd.execute_command("SLIDEWIN.CHECK", "sale:hat", "1s", 500, "100ms", 50)
        test_equal("sale: 50 in any 100 ms", sum(crowd.execute()), 50)
    test("sale: smoothed well below the second's limit", peek("sale:hat", "1s", 500, "WITHQUOTA")[2] >= 450)
    check("sale:hat", "1s", 500, "100ms", 50, "COST", 500, "FORCE")
    test_equal("sale: the item refuses", buy("hat", "bob"), "busy, try again")
    test_equal("sale: and the user keeps the right to one", r.exists("sale:hat:bob"), 0)
    wait_until("a second later", lambda: peek("sale:hat", "1s", 500, "100ms", 50))
    test_equal("sale: so it is bought later", buy("hat", "bob"), "yours")


# snippet:comments:start
def may_comment(user, post):
    """3 comments a minute by one user on one post."""
    return check(f"comment:{user}:{post}", "1m", 3)
# snippet:comments:end


def test_comments():
    test_equal("comments: 3 a minute", [may_comment("ann", 1) for _ in range(5)], [1, 1, 1, 0, 0])
    test_equal("comments: another post, another user", [may_comment("ann", 2), may_comment("bob", 1)], [1, 1])


# snippet:global:start
def admit_globally():
    """100,000 a second for all together, in at most 102 entries: what comes in the same 10 ms shares one."""
    return check("all", "1s", 100_000, "RESOLUTION", "10ms")
# snippet:global:end


def test_global():
    test_equal("global: admitted", admit_globally(), 1)
    with r.pipeline(transaction=True) as instant:
        for _ in range(101):
            instant.execute_command("SLIDEWIN.CHECK", "all", "1s", 100_000, "COST", 999, "RESOLUTION", "10ms")
        test_equal("global: 100,000 and no more", instant.execute(), [1] * 100 + [0])
    most = count = 0
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        with r.pipeline(transaction=False) as many:
            for _ in range(500):
                many.execute_command("SLIDEWIN.CHECK", "all", "1s", 100_000, "RESOLUTION", "10ms")
            many.zcard("all")
            many.memory_usage("all", samples=0)
            *admitted, entries, size = many.execute()
        count, most = count + sum(admitted), max(most, entries)
    test("global: at most 102 entries, and one that has just expired", most <= 103, f"{most} after {count} units")
    test("global: in bounded memory", size < 8192, f"{size} bytes after {count} units")
    test("global: with units enough to tell", count > 1000, count)


# snippet:two:start
def admit(user):
    """100 a minute for the user and 1000 a second for all. Where the second refuses, the first is given back."""
    receipt = check(f"user:{user}", "1m", 100, "RECEIPT")
    if not receipt:
        return 0
    if check("everyone", "1s", 1000):
        return 1
    refund(f"user:{user}", receipt)
    return 0
# snippet:two:end


def test_two():
    test_equal("two keys: the user's limit", sum(admit("ann") for _ in range(150)), 100)
    check("everyone", "1s", 1000, "COST", 1000, "FORCE")
    test_equal("two keys: all together are refused", admit("bob"), 0)
    test_equal("two keys: and the user has lost nothing", r.exists("user:bob"), 0)


for run in (
    test_ip, test_login, test_sms, test_tokens, test_crawler, test_sale, test_comments, test_global, test_two,
):
    run()
