// What each call sends, word for word, as docs/reference.md has it. No server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slidewin } from 'slidewin';

async function sent(call, options) {
  let words;
  const client = { sendCommand: async (command) => { words = command.join(' '); return []; } };
  await call(new Slidewin(client, options));
  return words;
}

const [minute, hour] = [{ window: '1m', limit: 3 }, { window: 3600, limit: 9 }];

for (const [call, words] of [
  [(slidewin) => slidewin.check('k', minute), 'SLIDEWIN.CHECK k 1m 3 WITHQUOTA'],
  [(slidewin) => slidewin.check('k', [minute, hour], { cost: 2, force: true, receipt: true, id: 'x' }),
    'SLIDEWIN.CHECK k 1m 3 3600 9 COST 2 FORCE RECEIPT ID x WITHQUOTA'],
  [(slidewin) => slidewin.check('k', minute, { resolution: '10ms' }), 'SLIDEWIN.CHECK k 1m 3 RESOLUTION 10ms WITHQUOTA'],
  [(slidewin) => slidewin.peek('k', minute, { cost: 2 }), 'SLIDEWIN.PEEK k 1m 3 COST 2 WITHQUOTA'],
  [(slidewin) => slidewin.refund('k', 7, { cost: 2 }), 'SLIDEWIN.REFUND k 7 COST 2'],
  [(slidewin) => slidewin.refund('k', { id: 'x' }), 'SLIDEWIN.REFUND k ID x'],
  [(slidewin) => slidewin.mcheck([{ key: 'a', ...minute }, { key: 'b', ...hour }], { cost: 2, force: true, id: 'x' }),
    'SLIDEWIN.MCHECK 2 a 1m 3 b 3600 9 COST 2 FORCE ID x WITHQUOTA'],
  [(slidewin) => slidewin.reserve('k', '5s', [minute, hour], { cost: 2, id: 'x' }), 'SLIDEWIN.RESERVE k 5s 1m 3 3600 9 COST 2 ID x'],
  [(slidewin) => slidewin.log('k', { count: 3 }), 'SLIDEWIN.LOG k COUNT 3'],
]) {
  test(words, async () => assert.equal(await sent(call), words));
}

test('with ids each call has one of its own, but none with a resolution', async () => {
  const calls = [
    (slidewin) => slidewin.check('k', minute),
    (slidewin) => slidewin.mcheck([{ key: 'k', ...minute }]),
    (slidewin) => slidewin.reserve('k', 0, minute),
  ];
  const ids = [];
  for (const call of [...calls, ...calls]) ids.push(/ ID ([\w-]{36})( |$)/.exec(await sent(call, { ids: true }))?.[1]);
  assert.ok(!ids.includes(undefined), ids);
  assert.equal(new Set(ids).size, 6);
  const resolved = await sent((slidewin) => slidewin.check('k', minute, { resolution: 1 }), { ids: true });
  assert.ok(!resolved.includes(' ID '), resolved);
  assert.match(await sent((slidewin) => slidewin.check('k', minute, { id: 'x' }), { ids: true }), / ID x /);
});
