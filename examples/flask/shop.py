"""A small shop with limits on its routes. `python shop.py` serves it on PORT, 5000 if that is not set."""

import os
import secrets

import redis
from flask import Flask, g, jsonify, render_template, request, session

from limiter import limited, limiter, without_redis

app = Flask(__name__)
app.secret_key = os.environ.get("SECRET_KEY") or secrets.token_bytes(32)
PASSWORD = "correct horse"  # of every user of this shop


# Behind a proxy that you trust: app.wsgi_app = werkzeug.middleware.proxy_fix.ProxyFix(app.wsgi_app), else all
# visitors have the proxy's address.
def address():
    return request.remote_addr


def user():
    return session.get("user", f"guest at {address()}")


# The outer limit is asked first: what the user's limit refuses takes nothing from the address's.
@app.get("/")
@limited("user", 60, 100, by=user, when_down="open")
@limited("ip", 60, 300, by=address, when_down="open")
def shop():
    return render_template("shop.html", user=user())


@app.get("/search")
@limited("search", 60, 30, by=address, when_down="local")
def search():
    return jsonify(found=[])


# 5 failed attempts in 5 minutes: an attempt takes one, a success gives it back. Who guesses passwords must not win by
# taking Redis down, so this route closes.
@app.post("/login")
@limited("login", 300, 5, by=lambda: request.form["user"], when_down="closed")
def login():
    if not secrets.compare_digest(request.form["password"], PASSWORD):
        return "Wrong password.\n", 401
    g.give_back()
    session["user"] = request.form["user"]
    return "Welcome.\n"


@app.get("/metrics")
def metrics():
    lines = (
        f'decisions_without_redis_total{{choice="{choice}"}} {count}\n' for choice, count in without_redis.items()
    )
    return "".join(lines), {"Content-Type": "text/plain; version=0.0.4"}


# A window to look at. The page is templates/live.html; what it shows is read from Redis as anybody can read it.
LIVE = "live"


@app.get("/live")
def live():
    return render_template("live.html")


def live_quota():
    """The window and the limit that the page has been set to."""
    return request.args["window"], request.args["limit"]


@app.get("/live/state")
def live_state():
    with limiter.client.pipeline(transaction=True) as pipeline:
        pipeline.execute_command("SLIDEWIN.PEEK", LIVE, *live_quota(), "WITHQUOTA")
        pipeline.execute_command("SLIDEWIN.LOG", LIVE, "COUNT", 1000)
        pipeline.time()
        quota, log, (seconds, micros) = pipeline.execute(raise_on_error=False)
    if isinstance(quota, Exception):
        raise quota  # in the module's words, without the pipeline's
    admissions = [{"time_us": time_us, "units": units, "receipt": receipt} for time_us, units, receipt, _ in log]
    return jsonify(quota=quota, admissions=admissions, now_us=seconds * 1_000_000 + micros)


@app.post("/live/check")
def live_check():
    """`calls` calls at once; how many were admitted."""
    with limiter.client.pipeline(transaction=False) as pipeline:
        for _ in range(min(int(request.args["calls"]), 100)):
            pipeline.execute_command("SLIDEWIN.CHECK", LIVE, *live_quota(), "COST", request.args["cost"])
        answers = pipeline.execute()
    return jsonify(admitted=sum(answers), refused=answers.count(0))


@app.post("/live/refund")
def live_refund():
    return jsonify(units=limiter.refund(LIVE, int(request.args["receipt"])))


@app.post("/live/reset")
def live_reset():
    return jsonify(deleted=limiter.reset(LIVE))


@app.errorhandler(redis.ResponseError)
def wrong_argument(error):
    return str(error), 400


@app.errorhandler(redis.ConnectionError)
@app.errorhandler(redis.TimeoutError)
def no_redis(_error):
    return "Redis is down.\n", 503


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", 5000)))
