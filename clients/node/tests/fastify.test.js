import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { Slidewin } from 'slidewin';
import { slidewinStore } from 'slidewin/fastify';
import { kinds } from './clients.js';
import { atOnce } from './http.js';
import { startServer, until } from './servers.js';

async function serve(t, client, options, routeOptions) {
  const app = Fastify();
  t.after(() => app.close());
  await app.register(rateLimit, { timeWindow: '1 minute', store: slidewinStore(client), ...options });
  app.get('/', async () => 'hello');
  app.get('/own', { config: { rateLimit: { max: 2, timeWindow: 1000, ...routeOptions } } }, async () => 'hello');
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const ioredis = async (t, server) => kinds['ioredis 6'].one(t, server);

for (const [name, { one }] of Object.entries(kinds)) {
  test(`${name}: 50 requests at once at limit 10`, async (t) => {
    const url = await serve(t, await one(t, await startServer(t)), { max: 10 });
    assert.deepEqual(await atOnce(50, url), { 200: 10, 429: 40 });
  });
}

test('headers; a route with limits of its own counts by itself', async (t) => {
  const url = await serve(t, await ioredis(t, await startServer(t)), { max: 3 });
  const header = async (path) => {
    const { status, headers } = await fetch(url + path);
    return [status, headers.get('x-ratelimit-remaining'), headers.get('x-ratelimit-reset'), headers.get('retry-after')];
  };
  assert.deepEqual(await header('/'), [200, '2', '60', null]);
  assert.deepEqual(await header('/own'), [200, '1', '1', null]);
  assert.deepEqual(await header('/own'), [200, '0', '1', null]);
  assert.deepEqual(await header('/own'), [429, '0', '1', '1']);
  assert.deepEqual(await header('/'), [200, '1', '60', null]);
});

test('a limit of 0 refuses, and a client may come back after a window', async (t) => {
  const response = await fetch(await serve(t, await ioredis(t, await startServer(t)), { max: 0 }));
  assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '60']);
});

test('a limit that is a function is known to the store', async (t) => {
  const client = await ioredis(t, await startServer(t));
  assert.deepEqual(await atOnce(50, await serve(t, client, { max: async () => 10 })), { 200: 10, 429: 40 });
  assert.equal((await new Slidewin(client).peek('slidewin:127.0.0.1', { window: '1m', limit: 50 })).windows[0].remaining, 40);
});

test('ban: after so many refusals 403', async (t) => {
  const url = await serve(t, await ioredis(t, await startServer(t)), { max: 2, ban: 3 });
  const statuses = [];
  for (let i = 0; i < 8; i++) statuses.push((await fetch(url)).status);
  assert.deepEqual(statuses, [200, 200, 429, 429, 429, 403, 403, 403]);
});

test('continueExceeding: only a window of silence gives the limit back', async (t) => {
  const url = await serve(t, await ioredis(t, await startServer(t)), { max: 9 }, { continueExceeding: true, timeWindow: 3000 });
  const status = async () => (await fetch(`${url}/own`)).status;
  assert.deepEqual([await status(), await status(), await status()], [200, 200, 429]);
  await sleep(2000);
  const refused = await fetch(`${url}/own`);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '3']);
  await sleep(2000); // the first two have left, but the refusal took all again
  assert.equal(await status(), 429);
  await sleep(3001);
  assert.deepEqual([await status(), await status(), await status()], [200, 200, 429]);
});

test('exponentialBackoff is no option', async (t) => {
  const client = await ioredis(t, await startServer(t));
  await assert.rejects(serve(t, client, { exponentialBackoff: true }), /no exponentialBackoff/);
  await assert.rejects(serve(t, client, {}, { exponentialBackoff: true }), /no exponentialBackoff/);
});

test('Redis stops: 500, or served with skipOnError; and back again', async (t) => {
  const server = await startServer(t);
  const client = await ioredis(t, server);
  const closed = await serve(t, client, { max: 10 });
  const open = await serve(t, client, { max: 10, keyGenerator: () => 'open', skipOnError: true });
  for (const url of [closed, open]) assert.deepEqual(await atOnce(5, url), { 200: 5 });
  await server.stop();
  assert.deepEqual(await atOnce(20, closed), { 500: 20 });
  assert.deepEqual(await atOnce(20, open), { 200: 20 });
  await server.start();
  await until('back', async () => (await fetch(closed)).status === 200);
  assert.deepEqual(await atOnce(20, open), { 200: 10, 429: 10 });
  assert.deepEqual(await atOnce(20, closed), { 200: 9, 429: 11 });
});
