// The storage of the shop's limits, and what it does while Redis is down. Lift this file out.
import { ServiceUnavailableException } from '@nestjs/common';
import { type ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler';
import { Redis } from 'ioredis';
import { Slidewin } from 'slidewin';
import { SlidewinThrottlerStorage } from 'slidewin/nestjs';

const redis = new Redis(process.env.REDIS_URL ?? 'redis://localhost', {
  enableOfflineQueue: false, // without a connection fail at once
  maxRetriesPerRequest: 0, // and send nothing twice
  retryStrategy: () => 500,
});
redis.on('error', () => {}); // without a listener ioredis prints each failed attempt to connect

// The throttler named `login` closes: who guesses passwords must not win by taking Redis down. Others count in this
// process alone.
const here = new ThrottlerStorageService();
const fallback: ThrottlerStorage = {
  async increment(key, ttl, limit, blockDuration, name) {
    if (name === 'login') throw new ServiceUnavailableException('Please try again in a moment.');
    return here.increment(key, ttl, limit, blockDuration, name);
  },
};

// A request waits for Redis 50 ms at most, unless REDIS_TIMEOUT_MS is set. After a failure nobody waits for a second; then the next request tries again.
export const storage = new SlidewinThrottlerStorage(new Slidewin(redis, { timeoutMs: Number(process.env.REDIS_TIMEOUT_MS ?? 50), pauseMs: 1000 }), { fallback });
