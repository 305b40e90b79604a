// Real servers on loopback, with the module. A server is killed at the end of the test that started it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { REDIS_SERVER = 'redis-server', SLIDEWIN_MODULE } = process.env;

/** Waits for the condition to give something true, and answers that; after 20 s an error that names what was awaited. */
export async function until(what, condition) {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(10)) {
    const result = await condition();
    if (result) return result;
  }
  throw new Error(`20 s have passed and not: ${what}`);
}

/** A port that nobody listens on. The one 10,000 above is free too: a cluster's nodes talk there. */
export async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port) && await isFree(port + 10_000)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

class Server {
  static async start(...args) {
    const server = new Server();
    server.dir = mkdtempSync(join(tmpdir(), 'slidewin-'));
    server.port = await freePort();
    server.url = `redis://127.0.0.1:${server.port}`;
    server.args = ['--bind', '127.0.0.1', '--port', String(server.port), '--save', '', '--dir', server.dir,
      '--loadmodule', SLIDEWIN_MODULE, ...args];
    await server.start();
    return server;
  }

  /** The first time, or again on the same port. */
  async start() {
    let log = '';
    this.process = spawn(REDIS_SERVER, this.args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (data) => { log += data; });
    await until('the server answers', async () => {
      if (this.process.exitCode !== null) throw new Error(`${REDIS_SERVER} does not start:\n${log}`);
      return await this.command('PING').catch(() => '') === '+PONG';
    });
  }

  /** The answer to an inline command, as text. */
  async command(line) {
    const socket = connect(this.port, '127.0.0.1');
    try {
      socket.setEncoding('utf8').write(`${line}\r\n`);
      let reply = '';
      for await (const data of socket) {
        reply += data;
        const length = Number(/^\$(\d+)\r\n/.exec(reply)?.[1] ?? 0);
        if (reply.endsWith('\r\n') && Buffer.byteLength(reply) > length) return reply.replace(/^\$\d+\r\n/, '').trim();
      }
      throw new Error('no answer');
    } finally {
      socket.destroy();
    }
  }

  /** How often each command was called since the last CONFIG RESETSTAT, and how many µs all its calls took. */
  async commandStats() {
    const lines = (await this.command('INFO commandstats')).matchAll(/cmdstat_([^:]+):calls=(\d+),usec=(\d+)/g);
    return Object.fromEntries([...lines].map(([, name, calls, us]) => [name, { calls: Number(calls), us: Number(us) }]));
  }

  /** Connected, and it answers nothing: a hung server. */
  freeze() {
    this.process.kill('SIGSTOP');
  }

  thaw() {
    this.process.kill('SIGCONT');
  }

  async stop() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }
}

/** A server for this test. */
export async function startServer(t, ...args) {
  const server = await Server.start(...args);
  t.after(async () => {
    await server.stop();
    rmSync(server.dir, { recursive: true });
  });
  return server;
}

/** Three nodes that share the slots, for this test. */
export async function startCluster(t) {
  const nodes = [];
  for (let i = 0; i < 3; i++) nodes.push(await startServer(t, '--cluster-enabled', 'yes', '--cluster-node-timeout', '5000'));
  const bounds = [0, 5461, 10923, 16384];
  for (const [i, node] of nodes.entries()) {
    const slots = Array.from({ length: bounds[i + 1] - bounds[i] }, (_, slot) => bounds[i] + slot);
    await node.command(`CLUSTER ADDSLOTS ${slots.join(' ')}`);
    await nodes[0].command(`CLUSTER MEET 127.0.0.1 ${node.port}`);
  }
  const whole = ['cluster_state:ok', 'cluster_slots_ok:16384', 'cluster_known_nodes:3'];
  for (const node of nodes) {
    await until('each node knows all slots', async () => {
      const info = await node.command('CLUSTER INFO');
      return whole.every((line) => info.includes(line));
    });
  }
  return nodes;
}

/** A sentinel that watches this server as `main`, for this test; its port. */
export async function startSentinel(t, server) {
  const sentinel = new Server();
  sentinel.dir = mkdtempSync(join(tmpdir(), 'slidewin-'));
  sentinel.port = await freePort();
  const conf = join(sentinel.dir, 'sentinel.conf');
  writeFileSync(conf, `bind 127.0.0.1\nport ${sentinel.port}\nsentinel monitor main 127.0.0.1 ${server.port} 1\n`);
  sentinel.args = [conf, '--sentinel'];
  t.after(async () => {
    await sentinel.stop();
    rmSync(sentinel.dir, { recursive: true });
  });
  await sentinel.start();
  return sentinel.port;
}

/**
 * Redis behind a wire that can be cut after a command of ours has arrived and before its reply comes back. What a client
 * asks of its own accord does not cut it.
 */
export async function startCut(t, server) {
  const wire = { port: 0, cutBeforeReply: false, sockets: new Set() };
  const proxy = createServer((socket) => {
    const upstream = connect(server.port, '127.0.0.1');
    for (const end of [socket, upstream]) wire.sockets.add(end.on('error', () => {}));
    let isOurs = false;
    socket.on('data', (data) => { isOurs = /slidewin\./i.test(data); });
    socket.pipe(upstream);
    upstream.on('data', (data) => {
      if (!wire.cutBeforeReply || !isOurs) return socket.write(data);
      wire.cutBeforeReply = false;
      socket.destroy();
      upstream.destroy();
    });
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  wire.port = proxy.address().port;
  t.after(() => {
    for (const socket of wire.sockets) socket.destroy();
    proxy.close();
  });
  return wire;
}
