// ioredis, for docs/clients.md: `node ioredis.mjs MODE` says what happened. See ../test_clients.py.
import { Cluster, Command, Redis } from 'ioredis';

const port = Number(process.env.PORT);
const nodes = (process.env.NODES ?? '').split(',').map((node) => ({ host: '127.0.0.1', port: Number(node) }));
const check = ['SLIDEWIN.CHECK', 'rl:ann', '1m', '1'];
const kind = (reply) => (Array.isArray(reply) ? `array of ${typeof reply[0]}` : `${typeof reply} ${reply}`);
const attempt = (call) => call().then(kind, (error) => `${error.name}${error.message.startsWith('MOVED') ? ' MOVED' : ''}`);
const many = (length, call) => Promise.all(Array.from({ length }, (_, n) => attempt(() => call(`rl:${n}`))));

function slidewin(client, name, key, ...args) {
  const command = new Command(name, [key, ...args], { replyEncoding: 'utf8' });
  command.keys = [key];
  return client.sendCommand(command);
}

async function open(options) {
  const cluster = new Cluster(nodes, options);
  await cluster.ping();
  return cluster;
}

const modes = {
  async call() {
    const redis = new Redis(port);
    return [
      await attempt(() => redis.call(...check)),
      await attempt(() => redis.call(...check)),
      await attempt(() => redis.call(...check, 'WITHQUOTA')),
      await attempt(() => redis.call('SLIDEWIN.CHECK', 'rl:ann', 'soon', '1')),
    ];
  },
  async cluster() {
    const cluster = await open();
    return many(50, (key) => slidewin(cluster, 'SLIDEWIN.CHECK', key, '1m', '1'));
  },
  async cluster_call() {
    const cluster = await open();
    return many(50, (key) => cluster.call('SLIDEWIN.CHECK', key, '1m', '1'));
  },
  async cluster_autopipelining() {
    const cluster = await open({ enableAutoPipelining: true });
    return many(200, (key) => cluster.call('SLIDEWIN.CHECK', key, '1m', '1'));
  },
  async cluster_autopipelining_by_key() {
    const cluster = await open({ enableAutoPipelining: true });
    return many(200, (key) => slidewin(cluster, 'SLIDEWIN.CHECK', key, '1m', '1'));
  },
  async replica() {
    const cluster = await open({ scaleReads: 'slave' });
    return many(50, (key) => {
      const command = new Command('SLIDEWIN.PEEK', [key, '1m', '1'], { replyEncoding: 'utf8' });
      command.keys = [key];
      command.isReadOnly = true;
      return cluster.sendCommand(command);
    });
  },
  async lost() {
    return [await attempt(() => new Redis(port).call('SLIDEWIN.CHECK', 'rl:ann', '1m', '9'))];
  },
  async lost_once() {
    const redis = new Redis(port, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
    redis.on('error', () => {});
    await redis.ping();
    return [await attempt(() => redis.call('SLIDEWIN.CHECK', 'rl:ann', '1m', '9'))];
  },
};

console.log(JSON.stringify(await modes[process.argv[2]]()));
process.exit();
