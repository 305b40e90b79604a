"""The shop in FastAPI. slowapi limits its pages over slidewin://; the login asks by itself, to give back.

`uvicorn shop:app` serves it.
"""

import os
import secrets

import redis
import slidewin.limits  # registers slidewin://
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel
from slidewin import ratelimit_headers
from slidewin.asyncio import Slidewin
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded
from slowapi.util import get_remote_address

URL = os.environ.get("REDIS_URL", "redis://localhost:6379")
PATIENCE = {"socket_timeout": 0.05, "socket_connect_timeout": 0.05}  # the most that a request waits for Redis

app = FastAPI()
app.state.limiter = limiter = Limiter(
    get_remote_address,
    storage_uri=URL.replace("redis", "slidewin", 1),
    storage_options=PATIENCE,
    strategy="moving-window",
    headers_enabled=True,
    in_memory_fallback_enabled=True,  # when Redis is down each process counts by itself
)
app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)


# slowapi waits for Redis in the thread that it is called from. A plain def has one of its own.
@app.get("/")
@limiter.limit("100/minute")
def shop(request: Request, response: Response):
    return {"shoes": 80, "hat": 25, "umbrella": 15}


@app.get("/search")
@limiter.limit("30/minute")
def search(request: Request, response: Response):
    return {"found": []}


PASSWORD = "correct horse"  # of every user of this shop
attempts = Slidewin.from_url(URL, pause_s=1, **PATIENCE)


class Login(BaseModel):
    user: str
    password: str


# 5 failed attempts in 5 minutes: an attempt takes one, a success gives it back. Who guesses passwords must not win by
# taking Redis down, so this route closes.
@app.post("/login")
async def login(form: Login, response: Response):
    key = f"login:{form.user}"
    decision = await attempts.check(key, 300, 5)
    response.headers.update(ratelimit_headers("login", 300, decision))
    if not decision:
        response.status_code = 429
    elif not secrets.compare_digest(form.password, PASSWORD):
        response.status_code = 401
    else:
        await attempts.refund(key, decision.receipt)


@app.exception_handler(redis.RedisError)
def no_redis(_request, _error):
    return Response("Please try again in a moment.\n", 503, {"Retry-After": "1"})
