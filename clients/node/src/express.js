import { AsyncLocalStorage } from 'node:async_hooks';
import { slidewinOf } from './index.js';

// More than anybody counts. Close to 2^53, the most that the server takes, clients round the integers that they read.
const UNLIMITED = 1e15;

/** A Store for express-rate-limit. See express.d.ts. */
export class SlidewinStore {
  localKeys = false; // other processes count on the same keys

  #slidewin;
  #windowMs;
  #limits;
  #most;
  #fallback;
  #lastHits = Promise.resolve();
  #onError;
  // express-rate-limit calls decrement(key) for the request whose increment(key) it called before, and says no more. So
  // increment leaves the admission in the request's own context, where decrement finds it.
  #admission = new AsyncLocalStorage();

  constructor({ client, prefix = 'slidewin:', limit, fallback, onError }) {
    this.prefix = prefix;
    this.#slidewin = slidewinOf(client);
    this.#most = limit;
    this.#fallback = fallback;
    this.#onError = onError;
  }

  init(options) {
    // A limit that is a function is asked after the store: then each request counts, also one that it refuses.
    const fixed = typeof options.limit === 'function' ? UNLIMITED : options.limit;
    this.#windowMs = options.windowMs;
    this.#limits = { window: `${options.windowMs}ms`, limit: this.#most ?? fixed };
    this.#fallback?.init?.(options);
  }

  async increment(key) {
    const admission = { receipt: 0, byFallback: false };
    this.#admission.enterWith(admission); // before anything is awaited, so that the caller's context has it
    try {
      const decision = await this.#slidewin.check(this.prefix + key, this.#limits, { receipt: true });
      admission.receipt = decision.receipt;
      return this.#hits(decision);
    } catch (error) {
      this.#onError?.(error);
      if (!this.#fallback) throw error;
      admission.byFallback = true;
      return this.#incrementFallback(key);
    }
  }

  // One call after the other, each with a copy: MemoryStore answers an object that its next call changes.
  #incrementFallback(key) {
    const hits = this.#lastHits.then(async () => ({ ...await this.#fallback.increment(key) }));
    this.#lastHits = hits.catch(() => {});
    return hits;
  }

  async decrement(key) {
    const { receipt, byFallback } = this.#admission.getStore() ?? {};
    if (byFallback) return this.#fallback.decrement(key);
    if (!receipt) return; // it was refused, and took nothing
    try {
      await this.#slidewin.refund(this.prefix + key, receipt);
    } catch (error) {
      this.#onError?.(error); // in express-rate-limit up to 8.6 nobody would catch it, and the process would end
    }
  }

  async get(key) {
    const decision = await this.#slidewin.peek(this.prefix + key, this.#limits);
    const [{ limit, remaining, resetAfterMs }] = decision.windows;
    return resetAfterMs === 0 ? undefined : { totalHits: limit - remaining, resetTime: inMs(resetAfterMs) };
  }

  async resetKey(key) {
    await this.#slidewin.reset(this.prefix + key);
    await this.#fallback?.resetKey(key);
  }

  // Admitted: until this admission leaves, since express-rate-limit gives nothing back after that time. Refused: until
  // there is room; a limit of 0 never has any, and a client may as well wait for a window.
  #hits({ admitted, windows: [{ limit, remaining, retryAfterMs, resetAfterMs }] }) {
    if (admitted) return { totalHits: limit - remaining, resetTime: inMs(resetAfterMs) };
    return { totalHits: limit + 1, resetTime: inMs(retryAfterMs < 0 ? this.#windowMs : retryAfterMs) };
  }
}


function inMs(ms) {
  return new Date(Date.now() + ms);
}
