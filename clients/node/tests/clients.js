// Each kind of client that the package works through, connected.
import * as ioredis5 from 'ioredis5';
import * as ioredis6 from 'ioredis';
import * as redis5 from 'redis5';
import * as redis6 from 'redis';

const closed = (t, client, close) => {
  client.on('error', () => {}); // a test that stops the server looks at what its calls say
  t.after(close);
  return client;
};

const nodeRedis = ({ createClient, createCluster, createSentinel }) => ({
  one: async (t, { url }) => {
    const client = createClient({ url });
    return closed(t, client, () => client.isOpen && client.destroy()).connect();
  },
  cluster: async (t, nodes) => {
    const client = createCluster({ rootNodes: nodes.map(({ url }) => ({ url })) });
    return closed(t, client, () => client.destroy()).connect();
  },
  sentinel: async (t, port) => {
    const client = createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port }] });
    return closed(t, client, () => client.destroy()).connect();
  },
});

const ioredis = ({ Redis, Cluster }) => ({
  one: async (t, { url }, options) => {
    const client = new Redis(url, { maxRetriesPerRequest: 0, ...options });
    return closed(t, client, () => client.disconnect());
  },
  cluster: async (t, nodes, options) => {
    const client = new Cluster(nodes.map(({ url }) => url), { retryDelayOnFailover: 0, ...options });
    closed(t, client, () => client.disconnect());
    await client.ping();
    return client;
  },
  sentinel: async (t, port) => {
    const client = new Redis({ name: 'main', sentinels: [{ host: '127.0.0.1', port }], maxRetriesPerRequest: 0 });
    return closed(t, client, () => client.disconnect());
  },
});

export const kinds = {
  'node-redis 5': nodeRedis(redis5),
  'node-redis 6': nodeRedis(redis6),
  'ioredis 5': ioredis(ioredis5),
  'ioredis 6': ioredis(ioredis6),
};
