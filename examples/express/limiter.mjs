// Rate limits for Express routes, and what they do while Redis is down. Lift this file out.
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { Redis } from 'ioredis';
import { Slidewin } from 'slidewin';
import { SlidewinStore } from 'slidewin/express';

const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost', {
  enableOfflineQueue: false, // without a connection fail at once
  maxRetriesPerRequest: 0, // and send nothing twice
  retryStrategy: () => 500,
});
redis.on('error', () => {}); // without a listener ioredis prints each failed attempt to connect
// A request waits for Redis 50 ms at most, unless REDIS_TIMEOUT_MS is set. After a failure nobody waits for a second; then the next request tries again.
const client = new Slidewin(redis, { timeoutMs: Number(process.env.REDIS_TIMEOUT_MS ?? 50), pauseMs: 1000 });
export const withoutRedis = {}; // decisions made without it, by what was decided

// Limits a route to `limit` requests in any `window` seconds for each value of by(req). whenDown is the choice for the
// day Redis is down: 'open' serves, 'closed' answers 503, 'local' counts in this process alone.
export function limited({ name, window, limit, by, whenDown, ...options }) {
  const onError = (error) => {
    withoutRedis[whenDown] = (withoutRedis[whenDown] ?? 0) + 1;
    if (!error.paused) console.warn(`no limits from Redis: ${error.message}`);
  };
  const fallback = whenDown === 'local' ? new MemoryStore() : undefined;
  const limiter = rateLimit({
    windowMs: window * 1000, limit, keyGenerator: by, identifier: name, standardHeaders: 'draft-8', legacyHeaders: false,
    passOnStoreError: whenDown === 'open', logger: { error() {}, warn: console.warn },
    store: new SlidewinStore({ client, prefix: `${name}:`, fallback, onError }), ...options,
  });
  if (whenDown !== 'closed') return limiter;
  return (req, res, next) => limiter(req, res, (error) =>
    error ? res.status(503).set('Retry-After', '1').send('Please try again in a moment.\n') : next());
}
