import { decisionOf } from './decision.js';
import { slidewinOf } from './index.js';

// `continueExceeding`: a refused call takes the whole limit, as one entry, so that only a window of silence gives it
// back. One script, since a call that came between DEL and CHECK would be admitted. A limit of 0 has nothing to take.
// The first CHECK has the options that follow the limit.
const CONTINUE_EXCEEDING = `
local reply = redis.call('SLIDEWIN.CHECK', KEYS[1], unpack(ARGV))
if reply[1] > 0 or reply[4] < 0 then return reply end
redis.call('DEL', KEYS[1])
reply = redis.call('SLIDEWIN.CHECK', KEYS[1], ARGV[1], ARGV[2], 'COST', ARGV[2], 'FORCE', 'WITHQUOTA')
reply[1] = 0
return reply`;

/** The class of a store for @fastify/rate-limit, which makes the stores itself. See fastify.d.ts. */
export function slidewinStore(client, { prefix = 'slidewin:' } = {}) {
  const slidewin = slidewinOf(client);

  return class SlidewinStore {
    #prefix;
    #options;

    constructor(options, ownPrefix = prefix) {
      if (options.exponentialBackoff) throw new TypeError('the store of slidewin has no exponentialBackoff');
      this.#options = options;
      this.#prefix = ownPrefix;
    }

    // A route with limits of its own counts by itself.
    child(options) {
      const { method, url } = options.routeInfo;
      return new SlidewinStore(options, `${this.#prefix}${method}${url}-`);
    }

    incr(key, callback, timeWindow, max) {
      this.#hit(this.#prefix + key, { window: `${timeWindow}ms`, limit: max }).then((hits) => callback(null, hits), callback);
    }

    read(key, callback, timeWindow, max) {
      slidewin.peek(this.#prefix + key, { window: `${timeWindow}ms`, limit: max }).then(({ windows: [window] }) =>
        callback(null, { current: window.limit - window.remaining, ttl: window.oldestAfterMs }), callback);
    }

    async #hit(key, limits) {
      const { admitted, windows: [window] } = await this.#check(key, limits);
      if (admitted) return { current: window.limit - window.remaining, ttl: window.oldestAfterMs };
      // A limit of 0 never has room, and a client may as well wait for a window.
      const ttl = window.retryAfterMs < 0 ? Number.parseFloat(limits.window) : window.retryAfterMs;
      return { current: window.limit + await this.#countRefusal(key, limits), ttl };
    }

    async #check(key, limits) {
      if (!this.#options.continueExceeding) return slidewin.check(key, limits);
      const id = slidewin.makeId();
      const check = [limits.window, String(limits.limit), ...(id ? ['ID', id] : []), 'WITHQUOTA'];
      return decisionOf(await slidewin.send(key, false, ['EVAL', CONTINUE_EXCEEDING, '1', key, ...check]));
    }

    // `ban` needs to know how often a client was refused: that is counted in a key of its own, to the ban and no further.
    async #countRefusal(key, { window }) {
      const { ban } = this.#options;
      if (!(ban >= 0)) return 1;
      const { windows: [refusals] } = await slidewin.check(`${key}:refused`, { window, limit: ban + 1 });
      return refusals.limit - refusals.remaining;
    }
  };
}
