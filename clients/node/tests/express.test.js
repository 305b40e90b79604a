import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { Slidewin } from 'slidewin';
import { SlidewinStore } from 'slidewin/express';
import { kinds } from './clients.js';
import { atOnce, listen } from './http.js';
import { startServer, until } from './servers.js';

const MINUTE = 60_000;

async function serve(t, options, handle = (req, res) => res.send('hello')) {
  const app = express();
  app.use(rateLimit({ windowMs: MINUTE, standardHeaders: 'draft-7', legacyHeaders: false, ...options }));
  app.get(/.*/, handle);
  app.use((error, req, res, next) => res.status(500).send(error.message)); // Express would print it
  return listen(t, createServer(app));
}

async function makeSlidewin(t, options) {
  const server = await startServer(t);
  return { server, slidewin: new Slidewin(await kinds['ioredis 6'].one(t, server), options) };
}

for (const [name, { one }] of Object.entries(kinds)) {
  test(`${name}: 50 requests at once at limit 10`, async (t) => {
    const url = await serve(t, { limit: 10, store: new SlidewinStore({ client: await one(t, await startServer(t)) }) });
    assert.deepEqual(await atOnce(50, url), { 200: 10, 429: 40 });
  });
}

test('headers, one command for a request, and when to come back', async (t) => {
  const { server, slidewin } = await makeSlidewin(t);
  const url = await serve(t, { limit: 2, windowMs: 5000, store: new SlidewinStore({ client: slidewin }) });
  await fetch(url);
  await server.command('CONFIG RESETSTAT');
  const second = await fetch(url);
  assert.equal(second.headers.get('ratelimit'), 'limit=2, remaining=0, reset=5');
  const { 'config|resetstat': _, ...commands } = await server.commandStats();
  assert.deepEqual(Object.entries(commands).map(([name, { calls }]) => [name, calls]), [['slidewin.check', 1]]);
  const refused = await fetch(url);
  assert.equal(refused.status, 429);
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= 5, `${wait} s`);
});

test('a limit of 0 refuses, and a client may come back after a window', async (t) => {
  const { slidewin } = await makeSlidewin(t);
  const response = await fetch(await serve(t, { limit: 0, store: new SlidewinStore({ client: slidewin }) }));
  assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '60']);
});

test('skipFailedRequests: 20 refusals beside 2 slow successes and 1 failure leave 2 used', async (t) => {
  const { slidewin } = await makeSlidewin(t);
  const store = new SlidewinStore({ client: slidewin });
  const waiting = [];
  const url = await serve(t, { limit: 3, skipFailedRequests: true, keyGenerator: () => 'ann', store }, (req, res) => {
    waiting.push((status) => res.sendStatus(status));
  });
  const inside = [fetch(url), fetch(url), fetch(url)];
  await until('three are inside', () => waiting.length === 3);
  assert.deepEqual(await atOnce(20, url), { 429: 20 });
  assert.equal((await store.get('ann')).totalHits, 3);
  // The failure is neither the first nor the last that was admitted.
  for (const [i, status] of [200, 500, 200].entries()) waiting[i](status);
  assert.deepEqual((await Promise.all(inside)).map((response) => response.status).sort(), [200, 200, 500]);
  await until('the failure is given back', async () => (await store.get('ann')).totalHits === 2);
});

test('skipFailedRequests: a failure gives back its own admission, not the newest', async (t) => {
  const { slidewin } = await makeSlidewin(t);
  const store = new SlidewinStore({ client: slidewin });
  const waiting = new Map();
  const url = await serve(t, { limit: 5, skipFailedRequests: true, keyGenerator: () => 'ann', store }, (req, res) => {
    waiting.set(req.path, (status) => res.sendStatus(status));
  });
  const oldestLeavesAfter = async () => (await slidewin.peek('slidewin:ann', { window: '1m', limit: 5 })).windows[0].oldestAfterMs;
  const responses = [];
  for (const path of ['/first', '/second']) {
    responses.push(fetch(url + path));
    await until(`${path} is inside`, () => waiting.has(path));
    await sleep(300);
  }
  const before = await oldestLeavesAfter();
  waiting.get('/first')(500);
  await until('one is given back', async () => (await store.get('ann')).totalHits === 1);
  assert.ok(await oldestLeavesAfter() > before + 100, 'the second is the oldest now');
  waiting.get('/second')(200);
  await Promise.all(responses);
});

test('skipSuccessfulRequests: only failures count', async (t) => {
  const { slidewin } = await makeSlidewin(t);
  const store = new SlidewinStore({ client: slidewin });
  const url = await serve(t, { limit: 3, skipSuccessfulRequests: true, keyGenerator: () => 'ann', store },
    (req, res) => res.sendStatus(req.path === '/wrong' ? 401 : 200));
  for (let i = 0; i < 10; i++) {
    assert.equal((await fetch(url)).status, 200);
    await until('it is given back', async () => (await store.get('ann')) === undefined);
  }
  for (let i = 0; i < 3; i++) assert.equal((await fetch(`${url}/wrong`)).status, 401);
  assert.equal((await fetch(url)).status, 429);
});

test('a limit that is a function: all count, also the refused, at most up to the limit of the store', async (t) => {
  const { slidewin } = await makeSlidewin(t);
  const store = new SlidewinStore({ client: slidewin, limit: 20 });
  const url = await serve(t, { limit: async () => 10, keyGenerator: () => 'ann', store });
  assert.deepEqual(await atOnce(50, url), { 200: 10, 429: 40 });
  assert.equal((await store.get('ann')).totalHits, 20);

  const unbounded = new SlidewinStore({ client: slidewin, prefix: 'unbounded:' });
  assert.deepEqual(await atOnce(50, await serve(t, { limit: () => 10, keyGenerator: () => 'ann', store: unbounded })),
    { 200: 10, 429: 40 });
  assert.equal((await unbounded.get('ann')).totalHits, 50);
});

test('get and resetKey', async (t) => {
  const { slidewin } = await makeSlidewin(t);
  const limiter = rateLimit({ windowMs: MINUTE, limit: 3, store: new SlidewinStore({ client: slidewin }) });
  assert.equal(await limiter.getKey('ann'), undefined);
  await slidewin.check('slidewin:ann', { window: '1m', limit: 3 });
  assert.equal((await limiter.getKey('ann')).totalHits, 1);
  await limiter.resetKey('ann');
  assert.equal(await limiter.getKey('ann'), undefined);
});

test('Redis stops: 500, or served with passOnStoreError, or counted by the fallback; and back again', async (t) => {
  const { server, slidewin } = await makeSlidewin(t);
  const errors = [];
  const store = (prefix, more) => new SlidewinStore({ client: slidewin, prefix, ...more });
  const logger = { error() {}, warn() {} };
  const closed = await serve(t, { limit: 10, store: store('closed:') });
  const open = await serve(t, { limit: 10, store: store('open:'), passOnStoreError: true, logger });
  const onError = (error) => errors.push(error);
  const local = await serve(t, { limit: 10, store: store('local:', { fallback: new MemoryStore(), onError }) });
  for (const url of [closed, open, local]) assert.deepEqual(await atOnce(5, url), { 200: 5 });
  await server.stop();
  assert.deepEqual(await atOnce(20, closed), { 500: 20 });
  assert.deepEqual(await atOnce(20, open), { 200: 20 });
  assert.deepEqual(await atOnce(20, local), { 200: 10, 429: 10 });
  assert.equal(errors.length, 20);
  await server.start();
  await until('back', async () => (await fetch(closed)).status === 200);
  for (const url of [open, local]) assert.deepEqual(await atOnce(11, url), { 200: 10, 429: 1 });
  assert.deepEqual(await atOnce(10, closed), { 200: 9, 429: 1 });
});

test('Redis stops before an admission can be given back: told, not thrown', async (t) => {
  const { server, slidewin } = await makeSlidewin(t);
  const errors = [];
  const store = new SlidewinStore({ client: slidewin, onError: (error) => errors.push(error) });
  store.init({ windowMs: MINUTE, limit: 10 });
  await store.increment('ann');
  await server.stop();
  await store.decrement('ann');
  assert.equal(errors.length, 1);
});
