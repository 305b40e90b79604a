// Compiled, never run: the types fit those of the clients and frameworks, and what is wrong does not compile.
import rateLimitPlugin from '@fastify/rate-limit';
import { ThrottlerModule, ThrottlerStorageService } from '@nestjs/throttler';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { Cluster, Redis } from 'ioredis';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { type Decision, NoAnswerError, Slidewin, type Standing } from 'slidewin';
import { SlidewinStore } from 'slidewin/express';
import { slidewinStore } from 'slidewin/fastify';
import { SlidewinThrottlerStorage } from 'slidewin/nestjs';

const client = createClient();
new Slidewin(createClientPool());
new Slidewin(createCluster({ rootNodes: [] }));
new Slidewin(createSentinel({ name: 'main', sentinelRootNodes: [] }), { ids: true });
new Slidewin(new Redis(), { timeoutMs: 50, pauseMs: 1000 });
const slidewin = new Slidewin(new Cluster([]));

const decision: Decision = await slidewin.check('user:42', [{ window: '1m', limit: 10 }, { window: 0.5, limit: 3 }] as const,
  { cost: 2, resolution: '10ms', force: false, receipt: true });
const standing: Standing = decision.windows[0]!;
const numbers: number[] = [standing.limit, standing.remaining, standing.retryAfterMs, standing.resetAfterMs, standing.oldestAfterMs,
  decision.receipt, decision.retryAfterMs, await slidewin.refund(Buffer.from('k'), decision.receipt, { cost: 1 })];
const booleans: boolean[] = [decision.admitted, await slidewin.reset('k'), new NoAnswerError('late').paused];
const several: Decision = await slidewin.mcheck([{ key: 'a', window: 1, limit: 1 }, { key: Buffer.from('b'), window: '1m', limit: 1 }] as const,
  { cost: 2, force: true, id: 'x' });
(await slidewin.log('k', { count: 3 })).map(({ timeUs, units, receipt, id }) => id.length + timeUs + units + receipt);
const { receipt, waitMs } = await slidewin.reserve('k', '5s', { window: 1, limit: 1 }, { cost: 2, id: Buffer.from('x') });
numbers.push(receipt, waitMs, several.receipt, await slidewin.refund('k', { id: 'x' }));
(await slidewin.offenders({ count: 3, reset: true })).map(({ key, refused, tooHighBy }) => key.length + refused + tooHighBy);
await slidewin.send('k', true, ['TTL', 'k']);
export { booleans, numbers };

// @ts-expect-error no limit
await slidewin.check('user:42');
// @ts-expect-error a limit is a number
await slidewin.check('user:42', { window: '1m', limit: '10' });
// @ts-expect-error PEEK has no receipt
await slidewin.peek('user:42', { window: '1m', limit: 10 }, { receipt: true });
// @ts-expect-error a key of MCHECK has one limit
await slidewin.mcheck([{ key: 'a', limits: [] }]);
// @ts-expect-error no client
new Slidewin({});

rateLimit({ limit: 10, store: new SlidewinStore({ client, prefix: 'a:', limit: 10, fallback: new MemoryStore(), onError: console.error }) });
const storage = new SlidewinThrottlerStorage(slidewin, { prefix: 'b:', fallback: new ThrottlerStorageService() });
ThrottlerModule.forRoot({ throttlers: [{ ttl: 60_000, limit: 10 }], storage });
await Fastify().register(rateLimitPlugin, { max: 10, store: slidewinStore(client, { prefix: 'c:' }) });
