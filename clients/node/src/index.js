import { randomUUID } from 'node:crypto';
import { connectionOf } from './client.js';
import { decisionOf } from './decision.js';

/** Redis gave no answer within `timeoutMs`, or is not asked at all since a call got none: then `paused` is true. */
export class NoAnswerError extends Error {
  name = 'NoAnswerError';

  constructor(message, { paused = false, cause } = {}) {
    super(message, { cause });
    this.paused = paused;
  }
}

/** The commands of the module, through a client that the application has. See index.d.ts. */
export class Slidewin {
  #connection;
  #timeoutMs;
  #pauseMs;
  #pausedUntil = 0;
  #lastError;
  #ids;
  #resends;

  constructor(client, { timeoutMs = 0, pauseMs = 0, ids = false, allowResend = false } = {}) {
    this.#connection = connectionOf(client);
    this.#timeoutMs = timeoutMs;
    this.#pauseMs = pauseMs;
    this.#ids = ids;
    this.#resends = this.#connection.resends && !allowResend;
    if (this.#resends && !ids) throw new TypeError(RESENDS);
  }

  async check(key, limits, { cost, resolution, force, receipt, id } = {}) {
    if (resolution === undefined) id ??= this.makeId();
    else this.#refuseResending('a check with a resolution');
    const command = ['SLIDEWIN.CHECK', key, ...pairs(limits), ...option('COST', cost), ...option('RESOLUTION', resolution)];
    if (force) command.push('FORCE');
    if (receipt) command.push('RECEIPT');
    return decisionOf(await this.send(key, false, [...command, ...idOption(id), 'WITHQUOTA']));
  }

  async mcheck(limits, { cost, force, id = this.makeId() } = {}) {
    const triples = limits.flatMap((limit) => [limit.key, ...pairs(limit)]);
    const command = ['SLIDEWIN.MCHECK', String(limits.length), ...triples, ...option('COST', cost)];
    if (force) command.push('FORCE');
    return decisionOf(await this.send(triples[0] ?? '', false, [...command, ...idOption(id), 'WITHQUOTA']));
  }

  async reserve(key, maxWait, limits, { cost, id = this.makeId() } = {}) {
    const command = ['SLIDEWIN.RESERVE', key, String(maxWait), ...pairs(limits), ...option('COST', cost), ...idOption(id)];
    const [receipt, waitMs] = (await this.send(key, false, command)).map(Number);
    return { receipt, waitMs };
  }

  async peek(key, limits, { cost } = {}) {
    const command = ['SLIDEWIN.PEEK', key, ...pairs(limits), ...option('COST', cost), 'WITHQUOTA'];
    return decisionOf(await this.send(key, true, command));
  }

  async refund(key, receiptOrId, { cost } = {}) {
    if (cost !== undefined) this.#refuseResending('a refund with a cost');
    const named = typeof receiptOrId === 'object' ? idOption(receiptOrId.id) : [String(receiptOrId)];
    return Number(await this.send(key, false, ['SLIDEWIN.REFUND', key, ...named, ...option('COST', cost)]));
  }

  async log(key, { count = 10 } = {}) {
    const rows = await this.send(key, true, ['SLIDEWIN.LOG', key, 'COUNT', String(count)]);
    return rows.map(([timeUs, units, receipt, id]) =>
      ({ timeUs: Number(timeUs), units: Number(units), receipt: Number(receipt), id }));
  }

  async reset(key) {
    return Number(await this.send(key, false, ['DEL', key])) > 0;
  }

  async offenders({ count = 10, reset = false } = {}) {
    const command = ['SLIDEWIN.OFFENDERS', 'COUNT', String(count)];
    if (reset) command.push('RESET');
    const replies = await this.#answer(() => this.#connection.sendToAll(command));
    return replies.flat()
      .map(([key, refused, tooHighBy]) => ({ key, refused: Number(refused), tooHighBy: Number(tooHighBy) }))
      .sort((one, other) => other.refused - one.refused)
      .slice(0, count);
  }

  /** An ID for one call, if calls have IDs. */
  makeId() {
    return this.#ids ? randomUUID() : undefined;
  }

  // What cannot have an ID does not go through a client that could send it twice.
  #refuseResending(call) {
    if (this.#resends) throw new TypeError(`this client may send a command twice, and ${call} would count twice: ${SEND_ONCE}`);
  }

  /** Any command that works on this key, with the same limits on waiting. */
  send(key, readonly, command) {
    return this.#answer(() => this.#connection.send(key, readonly, command));
  }

  async #answer(ask) {
    if (performance.now() < this.#pausedUntil) {
      const message = `Redis is not asked for ${this.#pauseMs} ms after: ${this.#lastError.message}`;
      throw new NoAnswerError(message, { paused: true, cause: this.#lastError });
    }
    try {
      return await within(this.#timeoutMs, ask());
    } catch (error) {
      if (!isErrorReply(error)) {
        this.#pausedUntil = performance.now() + this.#pauseMs;
        this.#lastError = error;
      }
      throw error;
    }
  }
}

/** The Slidewin around a client; a Slidewin is handed back as it is. */
export function slidewinOf(clientOrSlidewin) {
  return clientOrSlidewin instanceof Slidewin ? clientOrSlidewin : new Slidewin(clientOrSlidewin);
}

const SEND_ONCE = 'make the client with maxRetriesPerRequest: 0 (ioredis) or retryDelayOnFailover: 0 (a Cluster of '
  + 'ioredis), or pass allowResend: true';

const RESENDS = 'this client sends a command again when the connection is lost before the reply has come, '
  + `and the second one would be counted too. Pass ids: true, so that it counts once, or ${SEND_ONCE}`;

function pairs(limits) {
  return [limits].flat().flatMap(({ window, limit }) => [String(window), String(limit)]);
}

function option(name, value) {
  return value === undefined ? [] : [name, String(value)];
}

function idOption(id) {
  return id === undefined ? [] : ['ID', id]; // which may be bytes
}

// Each client has error classes of its own; what the server answered begins with a code in upper case.
function isErrorReply(error) {
  return /^[A-Z]+ /.test(error.message);
}

async function within(ms, answer) {
  if (!ms) return answer;
  let timer;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError(`no answer from Redis within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
