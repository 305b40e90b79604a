// The shops of examples/ over HTTP, with a Redis that is killed, restarted and frozen.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { Slidewin } from 'slidewin';
import { freePort, startServer, until } from './servers.js';

const examples = join(import.meta.dirname, '../examples');

// Exact counts want that Redis answers in time on a busy machine; a test of an outage says how long a request waits.
async function openShop(t, redis, file, timeoutMs = 5000) {
  const port = await freePort();
  const shop = spawn(process.execPath, [join(examples, file)],
    { env: { ...process.env, PORT: port, REDIS_URL: redis.url, REDIS_TIMEOUT_MS: timeoutMs }, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  shop.stderr.on('data', (data) => { errors += data; });
  t.after(() => shop.kill());
  const url = `http://127.0.0.1:${port}`;
  const login = (user, password = 'correct horse') =>
    fetch(`${url}/login`, { method: 'POST', body: new URLSearchParams({ user, password }), redirect: 'manual' });
  await until('the shop is open, and knows Redis', async () => {
    if (shop.exitCode !== null) throw new Error(`the shop does not start:\n${errors}`);
    const response = await fetch(url).catch(() => null);
    return response?.ok && await redis.command('DBSIZE') !== ':0';
  });
  await redis.command('FLUSHALL');
  return { get: (path, headers) => fetch(url + path, { headers }), login, errors: () => errors };
}

const statuses = async (count, request) => {
  const all = [];
  for (let i = 0; i < count; i++) all.push((await request()).status);
  return all;
};
const times = (count, status) => Array(count).fill(status);

test('Express: headers, limits, and a login that counts failures', async (t) => {
  const redis = await startServer(t);
  const { get, login, errors } = await openShop(t, redis, 'express/shop.mjs');
  const cookie = (await login('hal')).headers.get('set-cookie').split(';')[0];
  const first = await get('/', { cookie });
  assert.equal(first.headers.get('ratelimit'), '"user"; r=99; t=60, "ip"; r=299; t=60');
  assert.match(first.headers.get('ratelimit-policy'), /^"user"; q=100; w=60; pk=:.*:, "ip"; q=300; w=60; pk=:.*:$/);
  assert.equal(first.headers.get('retry-after'), null);
  assert.deepEqual(await statuses(101, () => get('/', { cookie })), [...times(99, 200), 429, 429]);
  const refused = await get('/', { cookie });
  const wait = Number(refused.headers.get('retry-after'));
  const client = new Redis(redis.url, { maxRetriesPerRequest: 0 });
  t.after(() => client.disconnect());
  const { retryAfterMs } = await new Slidewin(client).peek('user:hal', { window: 60, limit: 100 });
  assert.ok(wait * 1000 >= retryAfterMs && wait * 1000 < retryAfterMs + 1500, `${wait} s, ${retryAfterMs} ms`);
  assert.match(refused.headers.get('ratelimit'), /^"user"; r=0; t=\d+$/);

  assert.deepEqual(await statuses(20, () => login('eve')), times(20, 200));
  assert.deepEqual(await statuses(4, () => login('eve', 'guess')), times(4, 401));
  assert.deepEqual([(await login('eve')).status, (await login('eve', 'guess')).status], [200, 401]);
  const sixth = await login('eve');
  assert.equal(sixth.status, 429);
  const minutes = Number(sixth.headers.get('retry-after')) / 60;
  assert.ok(minutes > 4 && minutes <= 5, `${minutes} minutes`);
  assert.equal((await login('fay')).status, 200);
  assert.doesNotMatch(errors(), /ERR_ERL/, 'express-rate-limit has nothing to complain of');
});

test('Express: Redis stops and comes back, then hangs and comes back', async (t) => {
  const redis = await startServer(t);
  const { get, login } = await openShop(t, redis, 'express/shop.mjs', 50);
  const counted = async () => Object.fromEntries([...(await (await get('/metrics')).text())
    .matchAll(/choice="(\w+)"} (\d+)/g)].map(([, choice, count]) => [choice, Number(count)]));
  const isBack = () => until('the limits are back', async () => (await get('/')).headers.has('ratelimit'));
  const before = await counted();
  await redis.stop();
  assert.deepEqual(await statuses(150, () => get('/')), times(150, 200));
  assert.equal((await get('/')).headers.get('ratelimit'), null);
  const closed = await login('gus');
  assert.deepEqual([closed.status, closed.headers.get('retry-after')], [503, '1']);
  assert.deepEqual(await statuses(35, () => get('/search')), [...times(30, 200), ...times(5, 429)]);
  const after = await counted();
  for (const choice of Object.keys(after)) after[choice] -= before[choice] ?? 0;
  assert.deepEqual(after, { open: 302, closed: 1, local: 35 });
  await redis.start();
  await isBack();
  await until('the login is back', async () => (await login('ida')).status === 200);

  redis.freeze();
  const begin = performance.now();
  assert.deepEqual(await statuses(100, () => get('/')), times(100, 200));
  const waited = performance.now() - begin;
  assert.ok(waited < 4000, `${waited} ms; 100 times 2 limits of 50 ms are 10 s`);
  assert.equal((await login('gus')).status, 503);
  redis.thaw();
  await isBack();
});

test('NestJS: limits; Redis stops, and comes back', async (t) => {
  const folder = join(examples, 'nestjs');
  const typescript = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [typescript, '-p', folder]).catch((error) => assert.fail(error.stdout));
  const redis = await startServer(t);
  const { get, login } = await openShop(t, redis, 'nestjs/dist/shop.js');
  const first = await get('/');
  assert.deepEqual(['limit', 'remaining', 'reset'].map((name) => first.headers.get(`x-ratelimit-${name}-page`)), ['100', '99', '60']);
  assert.deepEqual(await statuses(101, () => get('/')), [...times(99, 200), 429, 429]);
  assert.deepEqual([(await login('eve', 'guess')).status, (await login('eve')).status], [401, 200]);
  assert.deepEqual(await statuses(4, () => login('eve')), [...times(3, 200), 429]);
  await redis.stop();
  assert.deepEqual(await statuses(101, () => get('/')), [...times(100, 200), 429]);
  assert.equal((await login('eve')).status, 503);
  await redis.start();
  await sleep(1000); // nobody asks Redis so soon after the last failure
  await until('the login is back', async () => (await login('eve')).status === 200);
  assert.deepEqual(await statuses(5, () => login('eve')), [...times(4, 200), 429]);
});
