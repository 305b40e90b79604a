"""Throttles for Django REST framework: its own, decided by SLIDEWIN.CHECK in place of a list in the cache.

Settings: `SLIDEWIN_URL` (`redis://localhost`), `SLIDEWIN_OPTIONS`, a dict of further arguments for
`Slidewin.from_url`, and `SLIDEWIN_SWALLOW_ERRORS`.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import redis
from django.conf import settings
from rest_framework import throttling

from slidewin.client import Slidewin
from slidewin.replies import Decision

logger = logging.getLogger(__name__)


@cache
def limiter() -> Slidewin:
    """The connection pool of this process, made for its first request."""
    url = getattr(settings, "SLIDEWIN_URL", "redis://localhost")
    return Slidewin.from_url(url, **getattr(settings, "SLIDEWIN_OPTIONS", {}))


class SlidewinThrottle(throttling.SimpleRateThrottle):  # type: ignore[misc] # rest_framework has no types
    """`SimpleRateThrottle` on an exact window: a request that is refused takes nothing, and requests that come at once
    are counted one by one.

    With SLIDEWIN_SWALLOW_ERRORS a request is let pass, and the error logged, when the server does not decide. Without
    it the error is raised, as a cache that is down raises its own.
    """

    decision: Decision | None = None

    def allow_request(self, request: Any, view: Any) -> bool:
        if self.rate is None:
            return True
        self.key = self.get_cache_key(request, view)
        if self.key is None:
            return True
        try:
            self.decision = limiter().check(self.key, self.duration, self.num_requests)
        except redis.RedisError as error:
            if not getattr(settings, "SLIDEWIN_SWALLOW_ERRORS", False):
                raise
            logger.error("not limited: %s", error)
            return True
        return bool(self.throttle_success() if self.decision else self.throttle_failure())

    def throttle_success(self) -> bool:
        return True

    def wait(self) -> float | None:
        """Seconds until the same request fits; None: it never does."""
        if self.decision is None or self.decision.retry_after_ms < 0:
            return None
        return self.decision.retry_after_ms / 1000


class AnonRateThrottle(SlidewinThrottle, throttling.AnonRateThrottle):  # type: ignore[misc]
    """DRF's own, by address, for requests that nobody has signed in for."""


class UserRateThrottle(SlidewinThrottle, throttling.UserRateThrottle):  # type: ignore[misc]
    """DRF's own, by user, else by address."""


class ScopedRateThrottle(throttling.ScopedRateThrottle, SlidewinThrottle):  # type: ignore[misc]
    """DRF's own, by the view's `throttle_scope`."""
