// What a request with headers costs: the store of slidewin against that of rate-limit-redis, in one run, in turns. Run by
// `clients/node/test.sh tests/measure.js`; prints µs in the server and round trips for each request.
import { createServer } from 'node:http';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { SlidewinStore } from 'slidewin/express';
import { startServer } from './servers.js';

const ROUNDS = 5;
const REQUESTS = 4000;
const AT_ONCE = 50;
const CLIENTS = 200;

const ends = [];
const t = { after: (end) => ends.push(end) };
const server = await startServer(t);
const redis = new Redis(server.url, { maxRetriesPerRequest: 0 });
t.after(() => redis.disconnect());
let writes = 0; // each call is one round trip: what is sent together would be one write
const send = redis.sendCommand;
redis.sendCommand = function (...args) {
  writes += 1;
  return send.apply(this, args);
};

const stores = {
  slidewin: () => new SlidewinStore({ client: redis, prefix: 'slidewin:' }),
  'rate-limit-redis': () => new RedisStore({ sendCommand: (...command) => redis.call(...command), prefix: 'stock:' }),
};

// Requests of so many clients in turns, 20 each, at limit 15 in a minute: three of four are admitted.
async function measure(name) {
  await server.command('FLUSHALL');
  let client = 0;
  const app = express();
  app.use(rateLimit({
    windowMs: 60_000, limit: 15, standardHeaders: 'draft-8', store: stores[name](),
    keyGenerator: () => String(client++ % CLIENTS),
  }));
  app.get('/', (req, res) => res.send('hello'));
  const listener = createServer(app);
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${listener.address().port}`;
  await fetch(url); // the stock store loads its scripts
  await server.command('CONFIG RESETSTAT');
  writes = 0;
  for (let i = 0; i < REQUESTS; i += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => (await fetch(url)).text()));
  }
  const stats = await server.commandStats();
  listener.closeAllConnections();
  listener.close();
  // What a script calls is in the script's own time.
  const us = stats[name === 'slidewin' ? 'slidewin.check' : 'evalsha'].us;
  return { us: us / REQUESTS, trips: writes / REQUESTS };
}

const results = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const name of Object.keys(stores)) (results[name] ??= []).push(await measure(name));
}
for (const [name, rounds] of Object.entries(results)) {
  const us = rounds.map((round) => round.us).sort((one, other) => one - other);
  console.log(`${name}: ${us[ROUNDS >> 1].toFixed(2)} µs in the server (${us[0].toFixed(2)} to ${us.at(-1).toFixed(2)}), ${rounds[0].trips} round trips`);
}
for (const end of ends.reverse()) await end();
