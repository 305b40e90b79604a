import { decisionOf } from './decision.js';
import { slidewinOf } from './index.js';

// A block is not a sliding window: it begins with the first refusal, and the count starts anew when it ends. One script,
// since nothing may come between the refusal and the block. The reply is that of SLIDEWIN.CHECK, which has the options
// that follow the third argument.
const BLOCKING_CHECK = `
local left = redis.call('PTTL', KEYS[2])
if left <= 0 then
  local reply = redis.call('SLIDEWIN.CHECK', KEYS[1], ARGV[1], ARGV[2], unpack(ARGV, 4))
  if reply[1] > 0 then return reply end
  left = tonumber(ARGV[3])
  redis.call('SET', KEYS[2], '', 'PX', left)
  redis.call('DEL', KEYS[1])
end
return {0, tonumber(ARGV[2]), 0, left, left, left}`;

/** A ThrottlerStorage for @nestjs/throttler. See nestjs.d.ts. */
export class SlidewinThrottlerStorage {
  #slidewin;
  #prefix;
  #fallback;
  #onError;

  constructor(client, { prefix = 'slidewin:', fallback, onError } = {}) {
    this.#slidewin = slidewinOf(client);
    this.#prefix = prefix;
    this.#fallback = fallback;
    this.#onError = onError;
  }

  async increment(key, ttl, limit, blockDuration, throttlerName) {
    // In braces: the block's key lies in the same slot of a cluster.
    const logKey = `${this.#prefix}{${throttlerName}:${key}}`;
    try {
      const decision = blockDuration === ttl
        ? await this.#slidewin.check(logKey, { window: `${ttl}ms`, limit })
        : await this.#checkOrBlock(logKey, ttl, limit, blockDuration);
      return record(decision, ttl);
    } catch (error) {
      this.#onError?.(error);
      if (!this.#fallback) throw error;
      return this.#fallback.increment(key, ttl, limit, blockDuration, throttlerName);
    }
  }

  async #checkOrBlock(key, ttl, limit, blockDuration) {
    const keys = [key, `${key}:blocked`];
    const id = this.#slidewin.makeId();
    const values = [`${ttl}ms`, limit, Math.ceil(blockDuration), ...(id ? ['ID', id] : []), 'WITHQUOTA'].map(String);
    return decisionOf(await this.#slidewin.send(key, false, ['EVAL', BLOCKING_CHECK, '2', ...keys, ...values]));
  }
}

// Seconds, rounded up. A limit of 0 has no time to come back: as long as the window is what a client should wait.
function record({ admitted, windows: [{ limit, remaining, retryAfterMs, oldestAfterMs }] }, ttl) {
  const seconds = (ms) => Math.ceil(ms / 1000);
  return {
    totalHits: admitted ? limit - remaining : limit + 1,
    timeToExpire: seconds(oldestAfterMs),
    isBlocked: !admitted,
    timeToBlockExpire: seconds(retryAfterMs < 0 ? ttl : retryAfterMs),
  };
}
