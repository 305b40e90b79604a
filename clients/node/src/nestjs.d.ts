import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Client, Slidewin } from './index.js';

export interface SlidewinThrottlerStorageOptions {
  /** Before the key, `slidewin:` unless given. */
  prefix?: string;
  /** A storage that decides while Redis does not, for example `new ThrottlerStorageService()`. */
  fallback?: ThrottlerStorage;
  /** Told of each error of Redis, also where a fallback decides. */
  onError?: (error: Error) => void;
}

/**
 * A ThrottlerStorage for @nestjs/throttler: `ThrottlerModule.forRoot({ throttlers, storage: new SlidewinThrottlerStorage(client) })`.
 *
 * Without a `blockDuration`, or with one equal to `ttl`, the window slides: a refused client may come again as soon as
 * there is room. With another one the first refusal blocks for that long, and the count then starts anew.
 */
export class SlidewinThrottlerStorage implements ThrottlerStorage {
  constructor(client: Client | Slidewin, options?: SlidewinThrottlerStorageOptions);
  increment: ThrottlerStorage['increment'];
}
