"""The throttles for Django REST framework: requests at once, a server that stops in the middle, and comes back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import django
import pytest
import redis
from django.conf import settings

settings.configure(
    SECRET_KEY="x",
    ALLOWED_HOSTS=["*"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_THROTTLE_RATES": {"anon": "10/min", "user": "10/min", "uploads": "2/day"},
    },
)
django.setup()

from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from slidewin import rest_framework as throttles


class Person:
    pk, is_authenticated = 17, True


@pytest.fixture
def use(monkeypatch):
    """Sends all throttles to this server."""

    def use(server, **more):
        monkeypatch.setattr(settings, "SLIDEWIN_URL", server.url, raising=False)
        for name, value in more.items():
            monkeypatch.setattr(settings, name, value, raising=False)
        throttles.limiter.cache_clear()

    yield use
    throttles.limiter.cache_clear()


def view_of(*classes, **attributes):
    class View(APIView):
        throttle_classes = classes

        def get(self, request):
            return Response("ok")

    for name, value in attributes.items():
        setattr(View, name, value)
    return View.as_view()


def get(view, user=None):
    request = APIRequestFactory().get("/")
    request.user = user
    return view(request)


def statuses(view, count, user=None):
    return [get(view, user).status_code for _ in range(count)]


def test_fifty_at_once(server, use):
    use(server)
    view, barrier = view_of(throttles.AnonRateThrottle), Barrier(50)

    def one(_):
        barrier.wait()
        return get(view).status_code

    with ThreadPoolExecutor(50) as threads:
        assert sorted(threads.map(one, range(50))) == [200] * 10 + [429] * 40


def test_wait(server, use):
    use(server)
    view = view_of(throttles.AnonRateThrottle)
    statuses(view, 10)
    assert 55 <= int(get(view)["Retry-After"]) <= 60


def test_classes(server, use, client):
    use(server)
    assert statuses(view_of(throttles.UserRateThrottle), 11) == [200] * 10 + [429]
    assert statuses(view_of(throttles.ScopedRateThrottle, throttle_scope="uploads"), 3) == [200, 200, 429]
    assert statuses(view_of(throttles.ScopedRateThrottle), 3) == [200] * 3, "a view without a scope"
    assert sorted(client.keys("*")) == [b"throttle_uploads_127.0.0.1", b"throttle_user_127.0.0.1"]


def test_never(server, use):
    use(server)

    class Closed(throttles.AnonRateThrottle):
        rate = "0/min"

    refused = get(view_of(Closed))
    assert refused.status_code == 429 and "Retry-After" not in refused


def test_no_rate(server, use):
    use(server)

    class Open(throttles.AnonRateThrottle):
        def get_rate(self):
            return None

    assert statuses(view_of(Open), 20) == [200] * 20


def test_down_and_back(mortal, use):
    """Without a choice: the error of redis-py."""
    use(mortal)
    view = view_of(throttles.AnonRateThrottle)
    assert statuses(view, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    with pytest.raises(redis.ConnectionError):
        get(view)
    mortal.start()
    assert statuses(view, 12) == [200] * 10 + [429] * 2


def test_down_and_swallowed(mortal, use, caplog):
    use(mortal, SLIDEWIN_SWALLOW_ERRORS=True)
    view = view_of(throttles.AnonRateThrottle)
    assert statuses(view, 12) == [200] * 10 + [429] * 2
    mortal.kill()
    assert statuses(view, 20) == [200] * 20
    assert "not limited" in caplog.text
    mortal.start()
    assert statuses(view, 12) == [200] * 10 + [429] * 2
