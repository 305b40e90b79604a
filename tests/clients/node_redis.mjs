// node-redis. Run by test_programs.py.

// snippet:start
import { createClient } from 'redis';

const client = await createClient({ url: process.env.REDIS_URL }).connect();
const [admitted, limit, remaining, retryAfterMs, resetAfterMs] = await client.sendCommand(
  ['SLIDEWIN.CHECK', 'user:42', '1m', '100', 'WITHQUOTA']);
// snippet:end

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { createCluster } from 'redis';
import { addresses, moved, testTable, url } from './table.mjs';

const { version } = createRequire(import.meta.url)('@redis/client/package.json');

// A reply, or an error, for each. A transaction that holds errors throws one with all replies in it; a pipeline throws
// its first error, and what the others were is not seen.
const replies = (batch) => batch.catch((error) => error.replies ?? [error]);
const errorsAlone = true;
const settled = (calls) => Promise.all(calls.map((call) => call.catch((error) => error)));

await test('the snippet', () => {
  assert.deepEqual([admitted, limit, remaining, retryAfterMs], [1, 100, 99, 0]);
  assert.ok(resetAfterMs > 50_000, `${resetAfterMs}`);
});
client.destroy();

for (const RESP of [2, 3]) {
  const title = `node-redis ${version} RESP${RESP}`;
  const one = await createClient({ url, RESP }).connect();
  const queue = (commands) => commands.reduce((multi, command) => multi.addCommand(command), one.multi());
  await testTable(`${title} raw`, async (_key, commands) => {
    const all = [];
    for (const command of commands) all.push(...await settled([one.sendCommand(command)]));
    return all;
  });
  // What is sent in the same turn of the event loop leaves together.
  await testTable(`${title} auto-pipeline`, (_key, commands) => settled(commands.map((command) => one.sendCommand(command))));
  await testTable(`${title} pipeline`, (_key, commands) => replies(queue(commands).execAsPipeline()), { errorsAlone });
  await testTable(`${title} transaction`, (_key, commands) => replies(queue(commands).exec()));
  one.destroy();

  const cluster = await createCluster({
    rootNodes: addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` })), defaults: { RESP },
  }).connect();
  const errorStats = () => Promise.all(cluster.masters.map(async (node) => (await cluster.nodeClient(node)).info('errorstats')));
  const before = moved(await errorStats());
  const isReadonly = false;
  const queueAt = (key, commands) =>
    commands.reduce((multi, command) => multi.addCommand(key, isReadonly, command), cluster.multi(key));
  await testTable(`${title} cluster raw`, async (key, commands) => {
    const all = [];
    for (const command of commands) all.push(...await settled([cluster.sendCommand(key, isReadonly, command)]));
    return all;
  });
  await testTable(`${title} cluster pipeline`, (key, commands) => replies(queueAt(key, commands).execAsPipeline()), { errorsAlone });
  await testTable(`${title} cluster transaction`, (key, commands) => replies(queueAt(key, commands).exec()));
  await test(`${title}: the cluster client goes straight to the right node`, async () => {
    assert.equal(moved(await errorStats()), before);
  });
  cluster.destroy();
}
