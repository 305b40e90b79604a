"""Exact sliding-window rate limits, decided by the Redis module slidewin in one command each.

`slidewin.Slidewin` has the commands, `slidewin.asyncio.Slidewin` the same for asyncio. Importing `slidewin.limits`
registers the storages `slidewin://` for the package limits, and so for Flask-Limiter and slowapi.
`slidewin.rest_framework` has throttles for Django REST framework.
"""

from slidewin.client import Slidewin
from slidewin.headers import ratelimit_headers
from slidewin.pause import Paused
from slidewin.replies import Admission, Decision, Offender, Place, Standing
from slidewin.resend import NO_RETRY

__all__ = [
    "NO_RETRY",
    "Admission",
    "Decision",
    "Offender",
    "Paused",
    "Place",
    "Slidewin",
    "Standing",
    "ratelimit_headers",
]
