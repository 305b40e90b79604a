"""The recipes that the documents show. test_recipes.py runs each against a real server, with its edge cases."""

# snippet:helpers:start
import os
import time
from functools import partial

import redis

r = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost"), decode_responses=True)
check = partial(r.execute_command, "SLIDEWIN.CHECK")
peek = partial(r.execute_command, "SLIDEWIN.PEEK")
refund = partial(r.execute_command, "SLIDEWIN.REFUND")
mcheck = partial(r.execute_command, "SLIDEWIN.MCHECK")
reserve = partial(r.execute_command, "SLIDEWIN.RESERVE")
# snippet:helpers:end


# snippet:ip:start
def view(ip):
    """100 views a minute for each address."""
    return check(f"view:{ip}", "1m", 100)
# snippet:ip:end


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


# snippet:sms:start
def may_send_sms(number):
    """One a minute and 10 a day. What the minute refuses does not count for the day."""
    return check(f"sms:{number}", "1m", 1, "1d", 10)
# snippet:sms:end


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


# snippet:comments:start
def may_comment(user, post):
    """3 comments a minute by one user on one post."""
    return check(f"comment:{user}:{post}", "1m", 3)
# snippet:comments:end


# snippet:global:start
def admit_globally():
    """100,000 a second for all together, in at most 102 entries: what comes in the same 10 ms shares one."""
    return check("all", "1s", 100_000, "RESOLUTION", "10ms")
# snippet:global:end


# snippet:line:start
def call_api(job):
    """Calls an API that allows 10 a second and 600 a minute. Whoever has no place within a minute gives up."""
    receipt, wait_ms = reserve("api", "1m", "1s", 10, "1m", 600, "ID", job)
    if not receipt:
        return f"no place, try again in {wait_ms} ms"
    time.sleep(wait_ms / 1000)
    return answer(job)
# snippet:line:end


def answer(job):
    return f"answer to {job}"


# snippet:several:start
def admit(user, ip):
    """100 a minute for the user, 300 for the address and 1000 a second for all, as one decision. A refusal costs nobody
    anything."""
    return mcheck(3, f"user:{user}", "1m", 100, f"ip:{ip}", "1m", 300, "everyone", "1s", 1000)
# snippet:several:end


# snippet:once:start
def send_sms(number, text, request):
    """One a minute and 10 a day. Who has had no answer sends the same request again, and is charged once."""
    if not check(f"sms:{number}", "1m", 1, "1d", 10, "ID", request):
        return "later"
    if not gateway(number, text, request):
        refund(f"sms:{number}", "ID", request)
        return "not sent"
    return "sent"
# snippet:once:end


sent = {}


def gateway(number, text, request):
    """Sends a text once, however often it is given the same request."""
    if text:
        sent[request] = number, text
    return bool(text)
