import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit';
import type { Client, Slidewin } from './index.js';

export interface SlidewinStoreOptions {
  /** A connected client, or a Slidewin, which can have limits on waiting. */
  client: Client | Slidewin;
  /** Before the key of a client, `slidewin:` unless given. Each limiter needs one of its own. */
  prefix?: string;
  /**
   * The most that a `limit` of the middleware that is a function can give. The middleware asks such a function after the
   * store, so the store does not know the limit: it counts each request up to this number, also those that are refused.
   */
  limit?: number;
  /** A store that decides while Redis does not, for example `new MemoryStore()`. */
  fallback?: Store;
  /** Told of each error of Redis, also where a fallback decides. */
  onError?: (error: Error) => void;
}

/** A Store for express-rate-limit: `rateLimit({ windowMs, limit, store: new SlidewinStore({ client }) })`. */
export class SlidewinStore implements Store {
  constructor(options: SlidewinStoreOptions);
  readonly prefix: string;
  readonly localKeys: false;
  init(options: Options): void;
  increment(key: string): Promise<ClientRateLimitInfo>;
  /** Gives back what the request that is being handled took: nothing if it was refused. It never rejects because of Redis. */
  decrement(key: string): Promise<void>;
  get(key: string): Promise<ClientRateLimitInfo | undefined>;
  resetKey(key: string): Promise<void>;
}
