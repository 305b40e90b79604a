// node-redis, for docs/clients.md: `node node_redis.mjs MODE` says what happened. See ../test_clients.py.
import { createClient, createCluster } from 'redis';

const url = `redis://127.0.0.1:${process.env.PORT}`;
const rootNodes = (process.env.NODES ?? '').split(',').map((port) => ({ url: `redis://127.0.0.1:${port}` }));
const check = ['SLIDEWIN.CHECK', 'rl:ann', '1m', '1'];
const kind = (reply) => (Array.isArray(reply) ? `array of ${typeof reply[0]}` : `${typeof reply} ${reply}`);
const attempt = (call) => call().then(kind, (error) => error.constructor.name);

async function open(options) {
  const client = createClient({ url, ...options });
  client.on('error', () => {}); // else a lost connection ends the process
  return client.connect();
}

const modes = {
  async call() {
    const client = await open();
    return [
      await attempt(() => client.sendCommand(check)),
      await attempt(() => client.sendCommand(check)),
      await attempt(() => client.sendCommand([...check, 'WITHQUOTA'])),
      await attempt(() => client.sendCommand(['SLIDEWIN.CHECK', 'rl:ann', 'soon', '1'])),
    ];
  },
  async cluster() {
    const cluster = await createCluster({ rootNodes }).connect();
    const isReadonly = false;
    return Promise.all(Array.from({ length: 50 }, (_, n) => attempt(() =>
      cluster.sendCommand(`rl:${n}`, isReadonly, ['SLIDEWIN.CHECK', `rl:${n}`, '1m', '1']))));
  },
  async replica() {
    const cluster = await createCluster({ rootNodes, useReplicas: true }).connect();
    const isReadonly = true;
    return Promise.all(Array.from({ length: 50 }, (_, n) => attempt(() =>
      cluster.sendCommand(`rl:${n}`, isReadonly, ['SLIDEWIN.PEEK', `rl:${n}`, '1m', '1']))));
  },
  async lost() {
    const client = await open();
    return [await attempt(() => client.sendCommand(['SLIDEWIN.CHECK', 'rl:ann', '1m', '9']))];
  },
};

console.log(JSON.stringify(await modes[process.argv[2]]()));
process.exit();
