import type { FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { Client, Slidewin } from './index.js';

export interface SlidewinStoreOptions {
  /** Before the key of a client, `slidewin:` unless given. */
  prefix?: string;
}

/**
 * The store for @fastify/rate-limit: `fastify.register(rateLimit, { max, timeWindow, store: slidewinStore(client) })`.
 *
 * `ban` counts the refusals of a window in a second key; `continueExceeding` makes a refused call take the whole limit.
 * `exponentialBackoff` throws a TypeError.
 */
export function slidewinStore(client: Client | Slidewin, options?: SlidewinStoreOptions): FastifyRateLimitStoreCtor;
