"""What the tests of the examples share: both shops, and Redis servers that can be killed, restarted and frozen."""

import http.client
import os
import re
import subprocess
import sys
import time
from urllib.parse import urlencode

import pytest
from servers import ROOT, Server, free_port, wait_until

COMMANDS = {
    "Flask": [sys.executable, ROOT / "examples/flask/shop.py"],
    # Beside its packages, where scripts/test-examples.sh has put a copy.
    "Express": ["node", ROOT / "target/clients/express/shop.mjs"],
}


class Answer:
    def __init__(self, response, seconds):
        self.status, self.seconds = response.status, seconds
        self.body = response.read().decode()
        # A list may come in several lines (RFC 9110, section 5.3).
        self.headers = {}
        for name, value in response.getheaders():
            self.headers[name.lower()] = ", ".join(filter(None, [self.headers.get(name.lower()), value]))


class Shop:
    """A process that serves the shop on a port of its own. As a context it is killed at the end."""

    def __init__(self, name, redis):
        self.port = free_port()
        environment = {**os.environ, "PORT": str(self.port), "REDIS_URL": redis.url}
        silent = subprocess.DEVNULL
        self.process = subprocess.Popen(COMMANDS[name], env=environment, stdout=silent, stderr=silent)
        try:
            wait_until("the shop is open, and knows Redis", self._is_open)
        except BaseException:
            self.__exit__()
            raise

    def _is_open(self):
        if self.process.poll() is not None:
            raise RuntimeError("the shop does not start")
        try:
            return "ratelimit" in self.get("/").headers
        except OSError:
            return False

    def request(self, method, path, body=None, headers=None):
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response, time.monotonic() - begin)
        finally:
            connection.close()

    def get(self, path, cookie=None):
        return self.request("GET", path, headers={"Cookie": cookie} if cookie else None)

    def login(self, user, password="correct horse"):
        form = urlencode({"user": user, "password": password})
        return self.request("POST", "/login", form, {"Content-Type": "application/x-www-form-urlencoded"})

    def cookie_of(self, user):
        answer = wait_until("a login", lambda: self.login(user).headers.get("set-cookie"))
        return answer.split(";")[0]

    def without_redis(self):
        return {choice: int(count) for choice, count in re.findall(r'choice="(\w+)"} (\d+)', self.get("/metrics").body)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def redis():
    with Server() as server:
        yield server


@pytest.fixture(scope="module", params=COMMANDS)
def shop(request, redis):
    with Shop(request.param, redis) as shop:
        yield shop


@pytest.fixture(scope="module")
def flask_shop(redis):
    with Shop("Flask", redis) as shop:
        yield shop
