// ioredis. Run by test_programs.py.

// snippet:start
import { Redis } from 'ioredis';

const redis = new Redis(process.env.REDIS_URL);
const [admitted, limit, remaining, retryAfterMs, resetAfterMs] = await redis.call(
  'SLIDEWIN.CHECK', 'user:42', '1m', 100, 'WITHQUOTA');
// snippet:end

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { addresses, moved, testTable, url } from './table.mjs';

// snippet:cluster:start
import { Cluster, Command } from 'ioredis';

// ioredis does not know which argument of a module's command is the key: `cluster.call` asks any node and follows its
// redirection. This goes straight to the right node; `client` may also be a pipeline or a transaction of the cluster.
function slidewin(client, name, key, ...args) {
  const command = new Command(name, [key, ...args], { replyEncoding: 'utf8' });
  command.keys = [key];
  return client.sendCommand(command);
}
// snippet:cluster:end

const { version } = createRequire(import.meta.url)('ioredis/package.json');
const protocols = Number.parseInt(version) < 6 ? [2] : [2, 3];

// A reply, or an error, for each.
const replies = async (batch) => (await batch.exec()).map(([error, reply]) => error ?? reply);
const oneByOne = (send) => async (_key, commands) => {
  const all = [];
  for (const command of commands) all.push(await send(...command).catch((error) => error));
  return all;
};
const queue = (batch, commands) => commands.reduce((all, command) => all.call(...command), batch);

await test('the snippet', () => {
  assert.deepEqual([admitted, limit, remaining, retryAfterMs], [1, 100, 99, 0]);
  assert.ok(resetAfterMs > 50_000, `${resetAfterMs}`);
});
redis.disconnect();

for (const protocol of protocols) {
  const title = `ioredis ${version} RESP${protocol}`;
  const one = new Redis(url, { protocol });
  await testTable(`${title} raw`, oneByOne((...command) => one.call(...command)));
  await testTable(`${title} pipeline`, (_key, commands) => replies(queue(one.pipeline(), commands)));
  await testTable(`${title} transaction`, (_key, commands) => replies(queue(one.multi(), commands)));
  one.disconnect();

  const cluster = new Cluster(addresses, { redisOptions: { protocol } });
  await cluster.ping();
  const errorStats = () => Promise.all(cluster.nodes('master').map((node) => node.info('errorstats')));
  const batch = (pipeline, commands) => {
    for (const command of commands) slidewin(pipeline, ...command);
    return pipeline;
  };
  const before = moved(await errorStats());
  await testTable(`${title} cluster by key`, oneByOne((...command) => slidewin(cluster, ...command)));
  await testTable(`${title} cluster pipeline`, (_key, commands) => replies(batch(cluster.pipeline(), commands)));
  await testTable(`${title} cluster transaction`, (_key, commands) => replies(batch(cluster.multi(), commands)));
  await test(`${title}: with its key a command goes straight to the right node`, async () => {
    assert.equal(moved(await errorStats()), before);
  });
  await testTable(`${title} cluster raw`, oneByOne((...command) => cluster.call(...command)));
  await test(`${title}: without, it is redirected`, async () => {
    assert.ok(moved(await errorStats()) > before);
  });
  cluster.disconnect();
}
