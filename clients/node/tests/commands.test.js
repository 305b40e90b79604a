// Each command through each client, on one server and in a cluster.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slidewin } from 'slidewin';
import { kinds } from './clients.js';
import { startCluster, startSentinel, startServer } from './servers.js';

const minute = { window: '1m', limit: 3 };

async function testIds(slidewin, key) {
  const many = { window: '1m', limit: 10 };
  const first = await slidewin.check(key, many, { cost: 2, receipt: true, id: 'request 1' });
  const again = await slidewin.check(key, many, { cost: 2, receipt: true, id: 'request 1' });
  assert.deepEqual([again.admitted, again.receipt, again.windows[0].remaining], [true, first.receipt, 8]);
  await slidewin.check(key, many, { resolution: '10ms' });
  await slidewin.check(key, many, { id: Buffer.from([0xff, 0xfe]) });
  assert.equal((await slidewin.check(key, many, { id: Buffer.from([0xff, 0xfd]) })).windows[0].remaining, 5, 'another ID');

  const log = await slidewin.log(key);
  assert.equal(log.length, 4);
  const [shared, named] = log.slice(2);
  assert.deepEqual(named, { timeUs: named.timeUs, units: 2, receipt: first.receipt, id: 'request 1' });
  assert.deepEqual(shared, { timeUs: shared.timeUs, units: 1, receipt: 0, id: '' });
  assert.ok(Math.abs(named.timeUs / 1000 - Date.now()) < 30_000, `${named.timeUs} µs`);
  assert.deepEqual(await slidewin.log(key, { count: 1 }), log.slice(0, 1));

  assert.equal(await slidewin.refund(key, { id: 'request 1' }, { cost: 1 }), 1);
  assert.equal(await slidewin.refund(key, { id: 'request 1' }), 1);
  assert.equal(await slidewin.refund(key, { id: 'request 1' }), 0);
  assert.equal((await slidewin.peek(key, many)).windows[0].remaining, 7);
  assert.deepEqual(await slidewin.log(`${key}:none`), []);
  await assert.rejects(slidewin.check(key, many, { id: 'x'.repeat(64) }), /ERR ID must be 1 to 63 bytes/);
  await assert.rejects(slidewin.check(key, many, { id: 'x', resolution: 1 }), /ERR RESOLUTION and ID exclude each other/);
}

async function testSeveralKeys(slidewin, key) {
  const [user, address] = [{ key: `{${key}}:user`, window: '1m', limit: 3 }, { key: `{${key}}:ip`, window: 3600, limit: 2 }];
  const left = async () => (await Promise.all([user, address].map((limit) => slidewin.peek(limit.key, limit))))
    .map(({ windows: [window] }) => window.remaining);
  const first = await slidewin.mcheck([user, address, { ...user, window: '1h', limit: 9 }], { id: 'request 1' });
  assert.equal(first.admitted, true);
  assert.deepEqual(first.windows.map(({ limit, remaining }) => [limit, remaining]), [[3, 2], [2, 1], [9, 8]]);
  assert.equal((await slidewin.mcheck([user, address], { id: 'request 1' })).admitted, true);
  assert.deepEqual(await left(), [2, 1], 'the same ID twice');
  const refused = await slidewin.mcheck([user, address], { cost: 2 });
  assert.deepEqual([refused.admitted, refused.receipt], [false, 0]);
  assert.deepEqual(await left(), [2, 1], 'nothing was recorded in the key that had room');
  assert.equal((await slidewin.mcheck([user, address], { cost: 2, force: true })).admitted, true);
  assert.deepEqual(await left(), [0, 0]);
  await assert.rejects(slidewin.mcheck([]), /ERR (wrong number of arguments|numkeys must be)/);
}

async function testPlaces(slidewin, key) {
  const one = { window: '1m', limit: 1 };
  const now = await slidewin.reserve(key, 0, one);
  assert.ok(now.receipt > 2 ** 50 && now.waitMs === 0, JSON.stringify(now));
  const later = await slidewin.reserve(key, '1m', [one, { window: '1h', limit: 5 }], { id: 'request 1' });
  assert.ok(later.receipt > now.receipt && later.waitMs > 50_000 && later.waitMs <= 60_000, JSON.stringify(later));
  assert.equal((await slidewin.reserve(key, '1m', one, { id: 'request 1' })).receipt, later.receipt, 'the same place');
  const tooLong = await slidewin.reserve(key, 10, one);
  assert.ok(tooLong.receipt === 0 && tooLong.waitMs > 100_000, JSON.stringify(tooLong));
  assert.deepEqual(await slidewin.reserve(key, 10, one, { cost: 2 }), { receipt: 0, waitMs: -1 });
  assert.equal((await slidewin.check(key, { window: '1m', limit: 5 })).admitted, false, 'the line goes first');
  assert.equal(await slidewin.refund(key, later.receipt), 1);
  assert.equal((await slidewin.check(key, { window: '1m', limit: 5 })).admitted, true);
}

async function testCommands(slidewin, key) {
  await testIds(slidewin, `${key}:ids`);
  await testSeveralKeys(slidewin, key);
  await testPlaces(slidewin, `${key}:places`);
  await slidewin.offenders({ reset: true });

  const first = await slidewin.check(key, minute);
  assert.equal(first.admitted, true);
  assert.equal(first.receipt, 0);
  assert.equal(first.retryAfterMs, 0);
  const [window] = first.windows;
  assert.equal(first.windows.length, 1);
  assert.deepEqual([window.limit, window.remaining, window.retryAfterMs], [3, 2, 0]);
  for (const ms of [window.resetAfterMs, window.oldestAfterMs]) assert.ok(ms > 50_000 && ms <= 60_001, `${ms} ms`);

  const { receipt } = await slidewin.check(key, [minute, { window: 0.5, limit: 9 }], { cost: 2, receipt: true });
  assert.ok(receipt > 2 ** 50 && Number.isSafeInteger(receipt), `receipt ${receipt}`);
  const refused = await slidewin.check(key, [minute, { window: '7d', limit: 5 }]);
  assert.equal(refused.admitted, false);
  assert.deepEqual(refused.windows.map(({ limit, remaining }) => [limit, remaining]), [[3, 0], [5, 2]]);
  assert.ok(refused.retryAfterMs > 50_000 && refused.retryAfterMs <= 60_001, `${refused.retryAfterMs} ms`);
  assert.equal((await slidewin.check(key, [minute, { window: 1, limit: 1 }], { cost: 2 })).retryAfterMs, -1);

  assert.equal((await slidewin.peek(key, minute)).admitted, false);
  assert.equal(await slidewin.refund(key, receipt, { cost: 1 }), 1);
  assert.equal((await slidewin.peek(key, minute)).windows[0].remaining, 1);
  assert.equal((await slidewin.peek(key, minute, { cost: 2 })).admitted, false);
  assert.equal(await slidewin.refund(key, receipt), 1);
  assert.equal(await slidewin.refund(key, receipt), 0);

  const forced = await slidewin.check(key, minute, { cost: 9, force: true, resolution: '10ms' });
  assert.deepEqual([forced.admitted, forced.windows[0].remaining], [true, 0]);
  const [offender] = await slidewin.offenders();
  assert.deepEqual(offender, { key, refused: 2, tooHighBy: 0 });
  assert.equal((await slidewin.offenders({ count: 1, reset: true })).length, 1);
  assert.deepEqual(await slidewin.offenders(), []);

  assert.equal(await slidewin.reset(key), true);
  assert.equal(await slidewin.reset(key), false);
  assert.equal((await slidewin.peek(key, minute)).windows[0].remaining, 3);
  await assert.rejects(slidewin.check(key, { window: 'soon', limit: 3 }), /ERR window must be a duration/);
  await slidewin.send(key, false, ['SET', key, 'text']);
  await assert.rejects(slidewin.check(key, minute), /WRONGTYPE/);
  assert.equal((await slidewin.check(Buffer.from([0xff, 0, 0x7b, 0x7d]), minute)).admitted, true);
}

for (const [name, { one, cluster, sentinel }] of Object.entries(kinds)) {
  test(`${name}: one server`, async (t) => {
    await testCommands(new Slidewin(await one(t, await startServer(t))), 'user:42');
  });

  test(`${name}: through a sentinel`, async (t) => {
    const client = await sentinel(t, await startSentinel(t, await startServer(t)));
    await testCommands(new Slidewin(client, { allowResend: name.startsWith('node-redis') }), 'user:42');
  });

  test(`${name}: a cluster, where each call goes straight to its node`, async (t) => {
    const nodes = await startCluster(t);
    const slidewin = new Slidewin(await cluster(t, nodes));
    await testCommands(slidewin, 'user:42');
    const admitted = await Promise.all(Array.from({ length: 200 }, (_, i) => slidewin.check(`user:${i % 20}`, minute)));
    assert.equal(admitted.filter((decision) => decision.admitted).length, 60);
    const stats = await Promise.all(nodes.map((node) => node.command('INFO errorstats')));
    assert.ok(!stats.some((text) => text.includes('MOVED')), 'a node had to send a client elsewhere');
    const twoSlots = [{ key: 'ann', ...minute }, { key: '10.0.0.1', ...minute }];
    await assert.rejects(slidewin.mcheck(twoSlots), /CROSSSLOT/);
    assert.deepEqual(await slidewin.log('ann'), []);
  });
}

for (const name of ['ioredis 5', 'ioredis 6']) {
  test(`${name}: with autopipelining, one server and a cluster`, async (t) => {
    const server = await startServer(t);
    const nodes = await startCluster(t);
    for (const client of [
      await kinds[name].one(t, server, { enableAutoPipelining: true }),
      await kinds[name].cluster(t, nodes, { enableAutoPipelining: true }),
    ]) {
      const slidewin = new Slidewin(client);
      const decisions = await Promise.all(Array.from({ length: 200 }, (_, i) => slidewin.check(`user:${i % 20}`, minute)));
      assert.equal(decisions.filter(({ admitted }) => admitted).length, 60);
    }
  });

  test(`${name}: integers that come as strings`, async (t) => {
    const slidewin = new Slidewin(await kinds[name].one(t, await startServer(t), { stringNumbers: true }));
    await testCommands(slidewin, 'user:42');
  });
}

test('what is no client', () => {
  for (const client of [undefined, {}, { get() {} }]) assert.throws(() => new Slidewin(client), TypeError);
});
