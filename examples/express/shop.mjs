// A small shop with limits on its routes. `node shop.mjs` serves it on PORT, 3000 if that is not set.
import { randomUUID, timingSafeEqual } from 'node:crypto';
import express from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { limited, withoutRedis } from './limiter.mjs';

const app = express();
// Behind a proxy that you trust: app.set('trust proxy', 1), else all visitors have the proxy's address.
app.use(express.urlencoded({ extended: false }));

const PASSWORD = Buffer.from('correct horse'); // of every user of this shop
const sessions = new Map(); // of this process: a shop with more than one has them elsewhere
const address = (req) => ipKeyGenerator(req.ip); // of an IPv6 visitor the network
const user = (req) => sessions.get(/session=([\w-]+)/.exec(req.headers.cookie)?.[1]) ?? `guest at ${address(req)}`;
const isRight = (password) =>
  Buffer.byteLength(password) === PASSWORD.length && timingSafeEqual(Buffer.from(password), PASSWORD);

// The first limit is asked first: what the user's limit refuses takes nothing from the address's.
app.get('/',
  limited({ name: 'user', window: 60, limit: 100, by: user, whenDown: 'open' }),
  limited({ name: 'ip', window: 60, limit: 300, by: address, whenDown: 'open' }),
  (req, res) => res.type('text').send('Shoes 80.00, hat 25.00, umbrella 15.00\n'));

app.get('/search',
  limited({ name: 'search', window: 60, limit: 30, by: address, whenDown: 'local' }),
  (req, res) => res.json({ found: [] }));

// 5 failed attempts in 5 minutes: an attempt takes one, a success gives it back. Who guesses passwords must not win by
// taking Redis down, so this route closes.
app.post('/login',
  limited({ name: 'login', window: 300, limit: 5, by: (req) => String(req.body?.user), whenDown: 'closed', skipSuccessfulRequests: true }),
  (req, res) => {
    if (!isRight(String(req.body?.password))) return res.status(401).send('Wrong password.\n');
    const session = randomUUID();
    sessions.set(session, req.body.user);
    return res.set('Set-Cookie', `session=${session}; HttpOnly; SameSite=Lax`).send('Welcome.\n');
  });

app.get('/metrics', (req, res) => {
  const lines = Object.entries(withoutRedis).map(([choice, count]) =>
    `decisions_without_redis_total{choice="${choice}"} ${count}\n`);
  res.type('text/plain; version=0.0.4').send(lines.join(''));
});

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
