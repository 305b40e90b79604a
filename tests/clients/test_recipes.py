"""The recipes of docs/recipes.md (recipes.py) against a real server, each with its edge cases."""

import time

from servers import wait_until
from table import fits


def put_earlier(r, key, *seconds_ago):
    """Writes a log of admissions as the module has it, oldest first."""
    now_us = time.time_ns() // 1000
    r.zadd(key, {1_000_000 + i: now_us - int(ago * 1e6) for i, ago in enumerate(seconds_ago)})
    r.expire(key, 100_000)


def test_ip(example):
    view = example.view
    assert [view("203.0.113.1") for _ in range(102)] == [1] * 100 + [0, 0]
    assert view("203.0.113.2") == 1, "another address is not concerned"
    put_earlier(example.r, "view:203.0.113.3", *(65 - i / 10 for i in range(100)))
    half = [view("203.0.113.3") for _ in range(100)]
    assert 50 <= sum(half) < 100, "what is older than a minute has left, what is younger has not"


def test_login(example):
    r, log_in = example.r, example.log_in
    assert {log_in("ann", "secret") for _ in range(20)} == {"welcome"}, "successes never count"
    assert r.exists("login:ann") == 0, "and leave nothing behind"
    assert [log_in("bob", "guess") for _ in range(4)] == ["wrong password"] * 4
    assert log_in("bob", "secret") == "welcome", "a success among the failures changes nothing"
    assert log_in("bob", "guess") == "wrong password", "the fifth failure"
    assert log_in("bob", "secret") == "too many attempts", "the sixth attempt is not even tried"
    quota = example.peek("login:bob", "5m", 5, "WITHQUOTA")
    assert fits([0, 5, 0, "~300000", "~300000", "~300000"], quota), "for 5 minutes"


def test_sms(example):
    r, peek, may_send_sms = example.r, example.peek, example.may_send_sms
    assert [may_send_sms("+1") for _ in range(3)] == [1, 0, 0], "one a minute"
    quotas = peek("sms:+1", "1m", 1, "1d", 10, "WITHQUOTA")
    minute, day = [1, 0, "~60000", "~60000", "~60000"], [10, 9, 0, "~86400000", "~86400000"]
    assert fits([0, *minute, *day], quotas), "refused ones spent nothing"
    hour = 3600
    put_earlier(r, "sms:+2", *(ago * hour for ago in range(10, 0, -1)))
    assert may_send_sms("+2") == 0, "10 a day"
    quotas = peek("sms:+2", "1m", 1, "1d", 10, "WITHQUOTA")
    minute, day = [1, 1, 0, 0, 0], [10, 0, "~50400000", "~82800000", "~50400000"]
    assert fits([0, *minute, *day], quotas), "until the first is a day old"
    put_earlier(r, "sms:+3", 24 * hour + 1, *(ago * hour for ago in range(9, 0, -1)))
    assert [may_send_sms("+3"), may_send_sms("+3")] == [1, 0], "9 in this day, and one before"


def test_tokens(example):
    ask = example.ask
    remaining = lambda user: example.peek(f"tokens:{user}", "1m", 100_000, "WITHQUOTA")[2]
    assert (ask("ann", 400), remaining("ann")) == ("42", 99_600), "settled down"
    assert example.r.zcard("tokens:ann") == 1, "one entry for a call"
    assert (ask("ann", 1500), remaining("ann")) == ("42", 98_100), "settled up"
    assert (ask("ann", 1000), remaining("ann")) == ("42", 97_100), "as reserved"
    for _ in range(97):
        ask("ann", 1000)
    assert (ask("ann", 10), remaining("ann")) == (None, 100), "100 are left, 1000 would be reserved"
    assert (ask("bob", 120_000), remaining("bob")) == ("42", 0), "an answer above the limit is recorded"
    assert ask("bob", 1) is None, "and refuses the next"


def test_crawler(example):
    r, crawl = example.r, example.crawl
    answers = [crawl("203.0.113.9") for _ in range(80)]
    assert answers == [200] * 20 + [429] * 51 + [403] * 9, "refused, then banned"
    assert 86_000 < r.ttl("banned:203.0.113.9") <= 86_400, "for a day"
    assert [crawl("203.0.113.10") for _ in range(20)] == [200] * 20, "a crawler that stays below is never counted"
    assert r.exists("refused:203.0.113.10") == 0, "and has no log of refusals"


def test_sale(example):
    r, check, peek, buy = example.r, example.check, example.peek, example.buy
    assert [buy("shoe", "ann"), buy("shoe", "ann")] == ["yours", "not so fast"], "one, and no double click"
    wait_until("100 ms later", lambda: peek("tap:ann", "100ms", 1))
    assert buy("shoe", "ann") == "you have one", "one for each user"

    # The crowd comes at one instant: a transaction stands for 60 buyers.
    with r.pipeline(transaction=True) as crowd:
        for _ in range(60):
            crowd.execute_command("SLIDEWIN.CHECK", "sale:hat", "1s", 500, "100ms", 50)
        assert sum(crowd.execute()) == 50, "50 in any 100 ms"
    assert peek("sale:hat", "1s", 500, "WITHQUOTA")[2] >= 450, "smoothed well below the second's limit"
    check("sale:hat", "1s", 500, "100ms", 50, "COST", 500, "FORCE")
    assert buy("hat", "bob") == "busy, try again", "the item refuses"
    assert r.exists("sale:hat:bob") == 0, "and the user keeps the right to one"
    wait_until("a second later", lambda: peek("sale:hat", "1s", 500, "100ms", 50))
    assert buy("hat", "bob") == "yours", "so it is bought later"


def test_comments(example):
    may_comment = example.may_comment
    assert [may_comment("ann", 1) for _ in range(5)] == [1, 1, 1, 0, 0], "3 a minute"
    assert [may_comment("ann", 2), may_comment("bob", 1)] == [1, 1], "another post, another user"


def test_global(example):
    r = example.r
    assert example.admit_globally() == 1
    with r.pipeline(transaction=True) as instant:
        for _ in range(101):
            instant.execute_command("SLIDEWIN.CHECK", "all", "1s", 100_000, "COST", 999, "RESOLUTION", "10ms")
        assert instant.execute() == [1] * 100 + [0], "100,000 and no more"
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
    assert most <= 103, f"at most 102 entries, and one that has just expired; after {count} units"
    assert size < 8192, f"in bounded memory; after {count} units"
    assert count > 1000, "units enough to tell"


def test_several(example):
    r, check, admit = example.r, example.check, example.admit
    assert sum(admit("ann", "203.0.113.1") for _ in range(150)) == 100, "the user's limit"
    remaining = example.peek("ip:203.0.113.1", "1m", 300, "WITHQUOTA")[2]
    assert remaining == 200, "what the user's key refuses is charged to no other"
    assert sum(admit(f"user{i // 90}", "203.0.113.1") for i in range(250)) == 200, "the address's limit"
    check("everyone", "1s", 1000, "COST", 1000, "FORCE")
    assert admit("bob", "203.0.113.2") == 0, "all together are refused"
    assert r.exists("user:bob", "ip:203.0.113.2") == 0, "and nobody has lost anything"


def test_once(example):
    r, send_sms, sent = example.r, example.send_sms, example.sent
    remaining = lambda number: example.peek(f"sms:{number}", "1d", 10, "WITHQUOTA")[2]
    assert [send_sms("+1", "hello", "a") for _ in range(3)] == ["sent"] * 3, "an answer that was lost is given again"
    assert (remaining("+1"), sent) == (9, {"a": ("+1", "hello")}), "one SMS, charged once"
    assert send_sms("+1", "again", "b") == "later", "another request within the minute"
    assert [send_sms("+2", "", "c"), remaining("+2")] == ["not sent", 10], "what was not sent is given back"
    assert [send_sms("+2", "hello", "c"), remaining("+2")] == ["sent", 9], "and may be tried again by the same name"
    put_earlier(r, "sms:+3", *(3600 * ago for ago in range(10, 0, -1)))
    assert send_sms("+3", "hello", "d") == "later", "10 a day"


def test_line(example):
    r, call_api, reserve = example.r, example.call_api, example.reserve
    started = time.monotonic()
    assert [call_api(f"job {i}") for i in range(10)] == [f"answer to job {i}" for i in range(10)]
    assert call_api("job 10") == "answer to job 10", "a second after the first"
    assert time.monotonic() - started >= 0.99
    assert call_api("job 10") == "answer to job 10" and r.zcard("api") == 22, "the same job takes no second place"
    line = [reserve("api", "1m", "1s", 10, "1m", 600, "ID", f"more {i}") for i in range(589)]
    assert all(receipt for receipt, _ in line)
    assert [wait_ms for _, wait_ms in line] == sorted(wait_ms for _, wait_ms in line), "in the order in which they came"
    assert 57_000 < line[-1][1] <= 60_000, "the 600th: 10 a second"
    assert example.refund("api", "ID", "more 300") == 1, "a job that is cancelled"
    behind = reserve("api", "1m", "1s", 10, "1m", 600, "ID", "behind")
    assert behind[0] > line[-1][0], "its place is not filled, a new one is behind the last"
    example.check("api", "1m", 600, "COST", 600, "FORCE")
    assert call_api("too late").startswith("no place, try again in 1"), "two minutes"
