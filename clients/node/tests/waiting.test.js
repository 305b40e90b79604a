// Nothing is counted twice, and nobody waits longer than he wants: a lost reply, a stopped server, a hung one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoAnswerError, Slidewin } from 'slidewin';
import { kinds } from './clients.js';
import { startCluster, startCut, startServer, until } from './servers.js';

const minute = { window: '1m', limit: 10 };

// How many units a call has taken whose reply was lost, once the client is back.
async function takenByLostCall(t, slidewin, wire, call = () => slidewin.check('user', minute)) {
  await until('connected', () => slidewin.peek('user', minute));
  wire.cutBeforeReply = true;
  const outcome = await call().catch((error) => error);
  const { windows: [{ remaining }] } = await until('connected again', () => slidewin.peek('user', minute).catch(() => null));
  return { taken: minute.limit - remaining, outcome };
}

for (const [name, { one }] of Object.entries(kinds)) {
  test(`${name}: a call whose reply is lost fails, and is not sent again`, async (t) => {
    const wire = await startCut(t, await startServer(t));
    const client = await one(t, { url: `redis://127.0.0.1:${wire.port}` });
    const { taken, outcome } = await takenByLostCall(t, new Slidewin(client), wire);
    assert.equal(taken, 1);
    assert.ok(outcome instanceof Error, 'the caller is told that there was no answer');
  });
}

for (const name of ['ioredis 5', 'ioredis 6']) {
  test(`${name}: a client that sends again is refused, and allowResend shows why`, async (t) => {
    const wire = await startCut(t, await startServer(t));
    const client = await kinds[name].one(t, { url: `redis://127.0.0.1:${wire.port}` }, { maxRetriesPerRequest: 20 });
    assert.throws(() => new Slidewin(client), /maxRetriesPerRequest: 0/);
    const { taken, outcome } = await takenByLostCall(t, new Slidewin(client, { allowResend: true }), wire);
    assert.equal(taken, 2);
    assert.equal(outcome.admitted, true);
  });

  test(`${name}: with ids a client that sends again counts once`, async (t) => {
    const wire = await startCut(t, await startServer(t));
    const client = await kinds[name].one(t, { url: `redis://127.0.0.1:${wire.port}` }, { maxRetriesPerRequest: 20 });
    const slidewin = new Slidewin(client, { ids: true });
    const keyed = { key: 'user', ...minute };
    const calls = [
      () => slidewin.check('user', minute),
      () => slidewin.check('user', minute, { id: 'request 1' }),
      () => slidewin.mcheck([keyed]),
      () => slidewin.reserve('user', 0, minute),
    ];
    for (const [before, call] of calls.entries()) {
      const { taken, outcome } = await takenByLostCall(t, slidewin, wire, call);
      assert.ok(outcome.admitted || outcome.receipt, `${call}: ${outcome}`);
      assert.equal(taken, before + 1, `${call}`);
      assert.equal(wire.cutBeforeReply, false, 'the reply was lost');
    }
    await assert.rejects(slidewin.check('user', minute, { resolution: 1 }), /count twice: make the client with/);
    await assert.rejects(slidewin.refund('user', { id: 'request 1' }, { cost: 1 }), /count twice: make the client with/);
    assert.equal(await slidewin.refund('user', { id: 'request 1' }), 1, 'twice is as once');
  });

  test(`${name}: with ids a Cluster that sends again counts once`, async (t) => {
    const nodes = await startCluster(t);
    const natMap = {};
    const wires = [];
    for (const node of nodes) {
      const wire = await startCut(t, node);
      wires.push(wire);
      natMap[`127.0.0.1:${node.port}`] = { host: '127.0.0.1', port: wire.port };
    }
    const client = await kinds[name].cluster(t, nodes, { retryDelayOnFailover: 100, slotsRefreshInterval: 0, natMap });
    const slidewin = new Slidewin(client, { ids: true });
    await until('connected', () => slidewin.peek('user', minute).catch(() => null));
    const cut = { set cutBeforeReply(cut) { for (const wire of wires) wire.cutBeforeReply = cut; } };
    const { taken, outcome } = await takenByLostCall(t, slidewin, cut);
    assert.deepEqual([outcome.admitted, taken], [true, 1]);
    const without = new Slidewin(client, { allowResend: true });
    assert.equal((await takenByLostCall(t, without, cut)).taken, 3, 'two more without an ID');
  });

  test(`${name}: autoResendUnfulfilledCommands: false sends nothing again either, but only a timeout tells the caller`, async (t) => {
    const wire = await startCut(t, await startServer(t));
    const client = await kinds[name].one(t, { url: `redis://127.0.0.1:${wire.port}` },
      { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 20 });
    const { taken, outcome } = await takenByLostCall(t, new Slidewin(client, { timeoutMs: 500 }), wire);
    assert.equal(taken, 1);
    assert.ok(outcome instanceof NoAnswerError, outcome);
  });

  test(`${name}: a Cluster sends again by default, and is refused`, async (t) => {
    const client = await kinds[name].cluster(t, await startCluster(t), { retryDelayOnFailover: 100 });
    assert.throws(() => new Slidewin(client), /retryDelayOnFailover: 0/);
  });
}

for (const [name, { one }] of Object.entries(kinds)) {
  test(`${name}: a hung server: one call waits, the next do not ask, and then it is back`, async (t) => {
    const server = await startServer(t);
    const slidewin = new Slidewin(await one(t, server), { timeoutMs: 100, pauseMs: 1000 });
    await until('connected', () => slidewin.check('user', minute).catch(() => null));
    server.freeze();
    await assert.rejects(slidewin.check('user', minute), (error) => error instanceof NoAnswerError && !error.paused);
    const begin = performance.now();
    for (let i = 0; i < 100; i++) {
      await assert.rejects(slidewin.peek('user', minute), (error) => error instanceof NoAnswerError && error.paused);
    }
    assert.ok(performance.now() - begin < 500, 'calls waited though the server was known to be hung');
    server.thaw();
    await until('it is asked again', () => slidewin.peek('user', minute).catch(() => null));
  });

  test(`${name}: an error reply pauses nothing`, async (t) => {
    const slidewin = new Slidewin(await one(t, await startServer(t)), { pauseMs: 60_000 });
    await assert.rejects(slidewin.check('user', { window: 0, limit: 1 }), /ERR window/);
    assert.equal((await slidewin.check('user', minute)).admitted, true);
  });
}
