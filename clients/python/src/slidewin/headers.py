"""HTTP headers for a decision."""

from __future__ import annotations

from slidewin.replies import Decision


def ratelimit_headers(name: str, window_s: int, decision: Decision) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` of the IETF draft for a decision over one window, and, where it is refused and
    will fit later, `Retry-After`. A response may carry those of several limits: add them, do not replace them.
    """
    standing = decision.standings[0]
    headers = {
        "RateLimit-Policy": f'"{name}";q={standing.limit};w={window_s}',
        "RateLimit": f'"{name}";r={standing.remaining};t={seconds(standing.reset_after_ms)}',
    }
    if not decision.admitted and standing.retry_after_ms > 0:
        headers["Retry-After"] = str(seconds(standing.retry_after_ms))
    return headers


def seconds(ms: int) -> int:
    """Rounded up, so that who waits that long is not too early."""
    return -(-ms // 1000)
