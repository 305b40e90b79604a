// How a command goes to Redis through the client that the application has.

/**
 * What Slidewin needs of a client. `send` takes the whole command; `key` says which node of a cluster has it, and
 * `readonly` whether a replica may answer. `sendToAll` asks each primary. `resends` is whether the client may send a
 * command again whose reply was lost with the connection.
 */
export function connectionOf(client) {
  if (typeof client?.call === 'function') return client.isCluster ? ioredisCluster(client) : ioredis(client);
  if (typeof client?.sendCommand !== 'function') throw new TypeError('slidewin needs a client of node-redis or ioredis');
  if (Array.isArray(client.masters)) return nodeRedisCluster(client);
  if (typeof client.getSentinelNode === 'function') return nodeRedisSentinel(client);
  return nodeRedis(client);
}

function ioredis(client) {
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest } = client.options;
  const send = (_key, _readonly, command) => client.call(...command);
  return {
    send,
    sendToAll: async (command) => [await client.call(...command)],
    // Without retries a command that waits for its reply fails as soon as the connection is lost. The other option alone
    // sends nothing again either, but then nothing ends the wait.
    resends: autoResendUnfulfilledCommands !== false && maxRetriesPerRequest !== 0,
  };
}

function ioredisCluster(client) {
  // ioredis does not know which argument of a module's command is the key. `call` would ask any node, and with
  // autopipelining the node that has the command's name as a key, without following the redirection. So the command
  // that `call` makes is told its key, and goes straight to the cluster.
  const toNode = (key) => ({
    options: {},
    sendCommand(command) {
      command.keys = [key];
      return client.sendCommand(command);
    },
  });
  const { retryDelayOnFailover, clusterNodeRetryStrategy } = client.options;
  return {
    send: (key, _readonly, command) => client.call.apply(toNode(key), command),
    sendToAll: (command) => Promise.all(client.nodes('master').map((node) => node.call(...command))),
    resends: retryDelayOnFailover > 0 || typeof clusterNodeRetryStrategy === 'function',
  };
}

function nodeRedis(client) {
  const send = (_key, _readonly, command) => client.sendCommand(command);
  return { send, sendToAll: async (command) => [await client.sendCommand(command)], resends: false };
}

function nodeRedisCluster(client) {
  return {
    send: (key, readonly, command) => client.sendCommand(key, readonly, command),
    sendToAll: (command) => Promise.all(client.masters.map(async (node) =>
      (await client.nodeClient(node)).sendCommand(command))),
    resends: false,
  };
}

function nodeRedisSentinel(client) {
  const send = (_key, readonly, command) => client.sendCommand(readonly, command);
  return {
    send,
    sendToAll: async (command) => [await client.sendCommand(false, command)],
    resends: true, // to the new primary, unless it was made with maxCommandRediscovers: 0, which cannot be seen
  };
}
