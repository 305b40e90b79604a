"""redis-py, as the README shows it. test_redis_py.py runs it."""

# snippet:start
import os
import redis

r = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost"))
admitted, limit, remaining, retry_after_ms, reset_after_ms = r.execute_command(
    "SLIDEWIN.CHECK", "user:42", "1m", 100, "WITHQUOTA"
)
# snippet:end
