import 'reflect-metadata';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule, ThrottlerStorageService } from '@nestjs/throttler';
import { Slidewin } from 'slidewin';
import { SlidewinThrottlerStorage } from 'slidewin/nestjs';
import { kinds } from './clients.js';
import { atOnce } from './http.js';
import { startCluster, startServer, until } from './servers.js';

async function serve(t, storage, ...throttlers) {
  class Hello {
    hello() {
      return 'hello';
    }
  }
  Get()(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'));
  Controller()(Hello);
  class App {}
  Module({
    imports: [ThrottlerModule.forRoot({ throttlers, storage })],
    controllers: [Hello],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  })(App);
  const app = await NestFactory.create(App, { logger: false });
  t.after(() => app.close());
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

const storageOn = async (t, server, options) => new SlidewinThrottlerStorage(await kinds['ioredis 6'].one(t, server), options);

for (const [name, { one }] of Object.entries(kinds)) {
  for (const [what, blockDuration] of [['', undefined], [', with a block', 30_000]]) {
    test(`${name}: 50 requests at once at limit 10${what}`, async (t) => {
      const storage = new SlidewinThrottlerStorage(await one(t, await startServer(t)));
      const url = await serve(t, storage, { ttl: 60_000, limit: 10, blockDuration });
      assert.deepEqual(await atOnce(50, url), { 200: 10, 429: 40 });
    });
  }
}

for (const name of ['node-redis 6', 'ioredis 6']) {
  test(`${name}: a cluster, with a block`, async (t) => {
    const storage = new SlidewinThrottlerStorage(await kinds[name].cluster(t, await startCluster(t)));
    const hits = await Promise.all(Array.from({ length: 50 }, (_, i) => storage.increment(`}{${i % 5}`, 60_000, 5, 1000, 'default')));
    assert.equal(hits.filter(({ isBlocked }) => !isBlocked).length, 25);
  });
}

test('headers of several throttlers', async (t) => {
  const url = await serve(t, await storageOn(t, await startServer(t)),
    { name: 'short', ttl: 2000, limit: 2 }, { name: 'long', ttl: 60_000, limit: 9 });
  const headers = async () => {
    const response = await fetch(url);
    return ['remaining-short', 'reset-short', 'remaining-long', 'reset-long']
      .map((name) => response.headers.get(`x-ratelimit-${name}`)).concat(response.headers.get('retry-after-short'));
  };
  assert.deepEqual(await headers(), ['1', '2', '8', '60', null]);
  assert.deepEqual(await headers(), ['0', '2', '7', '60', null]);
  assert.deepEqual(await headers(), [null, null, null, null, '2']);
});

test('the window slides: after a refusal a client may come back when there is room', async (t) => {
  const storage = await storageOn(t, await startServer(t));
  const hit = () => storage.increment('ann', 2000, 2, 2000, 'default');
  assert.deepEqual(await hit(), { totalHits: 1, timeToExpire: 2, isBlocked: false, timeToBlockExpire: 0 });
  await sleep(1200);
  await hit();
  assert.deepEqual(await hit(), { totalHits: 3, timeToExpire: 1, isBlocked: true, timeToBlockExpire: 1 });
  await sleep(820);
  assert.equal((await hit()).isBlocked, false);
  assert.equal((await hit()).isBlocked, true);
});

test('a block of another length begins with the first refusal, and the count then starts anew', async (t) => {
  const storage = await storageOn(t, await startServer(t));
  const hit = () => storage.increment('ann', 60_000, 2, 2000, 'default');
  await hit();
  await hit();
  assert.deepEqual(await hit(), { totalHits: 3, timeToExpire: 2, isBlocked: true, timeToBlockExpire: 2 });
  await sleep(1000);
  assert.equal((await hit()).isBlocked, true);
  await sleep(1010); // a refusal does not make it longer
  assert.equal((await hit()).totalHits, 1);
});

test('a limit of 0 refuses, and a client may come back after a window', async (t) => {
  const storage = await storageOn(t, await startServer(t));
  assert.deepEqual(await storage.increment('ann', 60_000, 0, 60_000, 'default'),
    { totalHits: 1, timeToExpire: 0, isBlocked: true, timeToBlockExpire: 60 });
});

test('Redis stops: 500, or the fallback counts; and back again', async (t) => {
  const server = await startServer(t);
  const errors = [];
  const slidewin = new Slidewin(await kinds['ioredis 6'].one(t, server));
  const closed = await serve(t, new SlidewinThrottlerStorage(slidewin, { prefix: 'closed:' }), { ttl: 60_000, limit: 10 });
  const fallback = new ThrottlerStorageService();
  t.after(() => fallback.onApplicationShutdown());
  const local = await serve(t, new SlidewinThrottlerStorage(slidewin, { fallback, onError: (error) => errors.push(error) }),
    { ttl: 60_000, limit: 10 });
  for (const url of [closed, local]) assert.deepEqual(await atOnce(5, url), { 200: 5 });
  await server.stop();
  assert.deepEqual(await atOnce(20, closed), { 500: 20 });
  assert.deepEqual(await atOnce(20, local), { 200: 10, 429: 10 });
  assert.equal(errors.length, 20);
  await server.start();
  await until('back', async () => (await fetch(closed)).status === 200);
  assert.deepEqual(await atOnce(20, local), { 200: 10, 429: 10 });
  assert.deepEqual(await atOnce(20, closed), { 200: 9, 429: 11 });
});
