// The stores over a client that sends a command again after a lost reply: with IDs the request counts once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Slidewin } from 'slidewin';
import { SlidewinStore } from 'slidewin/express';
import { slidewinStore } from 'slidewin/fastify';
import { SlidewinThrottlerStorage } from 'slidewin/nestjs';
import { kinds } from './clients.js';
import { startCut, startServer, until } from './servers.js';

const MINUTE = 60_000;

// For each a request at limit 2, and the key that counts it.
const stores = {
  express(slidewin) {
    const store = new SlidewinStore({ client: slidewin });
    store.init({ windowMs: MINUTE, limit: 2 });
    return { hit: () => store.increment('user'), key: 'slidewin:user' };
  },
  nestjs(slidewin) {
    const storage = new SlidewinThrottlerStorage(slidewin);
    return { hit: () => storage.increment('user', MINUTE, 2, MINUTE, 'default'), key: 'slidewin:{default:user}' };
  },
  'nestjs with a block'(slidewin) {
    const storage = new SlidewinThrottlerStorage(slidewin);
    return { hit: () => storage.increment('user', MINUTE, 2, 30_000, 'default'), key: 'slidewin:{default:user}' };
  },
  fastify: (slidewin) => fastify(slidewin, {}),
  'fastify with continueExceeding': (slidewin) => fastify(slidewin, { continueExceeding: true }),
};

function fastify(slidewin, options) {
  const store = new (slidewinStore(slidewin))(options);
  const incr = promisify((callback) => store.incr('user', callback, MINUTE, 2));
  return { hit: async () => ({ totalHits: (await incr()).current }), key: 'slidewin:user' };
}

for (const [name, make] of Object.entries(stores)) {
  test(`${name}: a request whose reply is lost counts once`, async (t) => {
    const wire = await startCut(t, await startServer(t));
    const client = await kinds['ioredis 6'].one(t, { url: `redis://127.0.0.1:${wire.port}` }, { maxRetriesPerRequest: 20 });
    const slidewin = new Slidewin(client, { ids: true });
    const { hit, key } = make(slidewin);
    await until('connected', () => slidewin.log(key));
    for (const hits of [1, 2]) {
      wire.cutBeforeReply = true;
      assert.equal((await hit()).totalHits, hits);
      assert.equal(wire.cutBeforeReply, false, 'the reply was lost');
      assert.deepEqual((await slidewin.log(key)).map(({ units }) => units), Array(hits).fill(1));
    }
    wire.cutBeforeReply = true;
    assert.equal((await hit()).totalHits, 3, 'refused');
  });
}
