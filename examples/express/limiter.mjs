// Rate limits for Express routes: one SLIDEWIN.CHECK each. Lift this file out; it needs ioredis.
import { Redis } from 'ioredis';

const BUDGET_MS = 50; // the most that a request waits for Redis
const PAUSE_MS = 1000; // after a failure, as long nobody waits for it at all; then the next request tries again

export const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost', {
  commandTimeout: BUDGET_MS,
  enableOfflineQueue: false, // without a connection fail at once
  maxRetriesPerRequest: 0,
  retryStrategy: () => PAUSE_MS / 2,
});
redis.on('error', () => {}); // without a listener ioredis prints each failed attempt to connect
export const withoutRedis = {}; // decisions made without it, by what was decided
let pausedUntil = 0;

// The answer of Redis; null if it is down or slow, now or within the last second.
export async function ask(...command) {
  if (performance.now() < pausedUntil) return null;
  try {
    return await redis.call(...command);
  } catch (error) {
    pausedUntil = performance.now() + PAUSE_MS;
    console.warn(`no limits from Redis: ${error.message}`);
    return null;
  }
}

// Limits a route to `limit` requests in any `window` seconds for each value of by(req).
// whenDown is the choice for the day Redis is down: 'open' serves, 'closed' answers 503, 'local' counts in this process
// alone. The route can undo its own request's count with await req.giveBack().
export function limited({ name, window, limit, by, whenDown }) {
  return async (req, res, next) => {
    const key = `${name}:${by(req)}`;
    let answer = await ask('SLIDEWIN.CHECK', key, window, limit, 'RECEIPT', 'WITHQUOTA');
    const receipt = answer?.[0];
    req.giveBack = async () => receipt && ask('SLIDEWIN.REFUND', key, receipt);
    if (answer === null) {
      withoutRedis[whenDown] = (withoutRedis[whenDown] ?? 0) + 1;
      if (whenDown === 'open') return next();
      if (whenDown === 'closed') {
        return res.status(503).set('Retry-After', PAUSE_MS / 1000).send('Please try again in a moment.\n');
      }
      answer = countHere(key, window, limit);
    }
    const [admitted, , remaining, retryAfterMs, resetAfterMs] = answer;
    res.append('RateLimit-Policy', `"${name}";q=${limit};w=${window}`);
    res.append('RateLimit', `"${name}";r=${remaining};t=${Math.ceil(resetAfterMs / 1000)}`);
    if (admitted) return next();
    if (retryAfterMs > 0) res.set('Retry-After', Math.ceil(retryAfterMs / 1000));
    return res.status(429).send('Too many requests.\n');
  };
}

const logs = new Map();

// What SLIDEWIN.CHECK answers, from this process's memory: with N processes up to N times the limit.
function countHere(key, window, limit) {
  const now = performance.now();
  if (logs.size > 10_000) logs.clear(); // it only bridges an outage: bounded memory matters more than every key
  const log = (logs.get(key) ?? []).filter((at) => at > now - window * 1000);
  logs.set(key, log);
  const admitted = log.length < limit;
  if (admitted) log.push(now);
  const msLeft = (at) => Math.ceil(at + window * 1000 - now);
  const retryAfterMs = log.length < limit ? 0 : log.length ? msLeft(log[0]) : -1;
  return [Number(admitted), limit, limit - log.length, retryAfterMs, log.length ? msLeft(log.at(-1)) : 0];
}
