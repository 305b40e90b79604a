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

  constructor(client, { timeoutMs = 0, pauseMs = 0, allowResend = false } = {}) {
    this.#connection = connectionOf(client);
    this.#timeoutMs = timeoutMs;
    this.#pauseMs = pauseMs;
    if (this.#connection.resends && !allowResend) throw new TypeError(RESENDS);
  }

  async check(key, limits, { cost, resolution, force, receipt } = {}) {
    const command = ['SLIDEWIN.CHECK', key, ...pairs(limits), ...option('COST', cost), ...option('RESOLUTION', resolution)];
    if (force) command.push('FORCE');
    if (receipt) command.push('RECEIPT');
    return decisionOf(await this.send(key, false, [...command, 'WITHQUOTA']));
  }

  async peek(key, limits, { cost } = {}) {
    const command = ['SLIDEWIN.PEEK', key, ...pairs(limits), ...option('COST', cost), 'WITHQUOTA'];
    return decisionOf(await this.send(key, true, command));
  }

  async refund(key, receipt, { cost } = {}) {
    return Number(await this.send(key, false, ['SLIDEWIN.REFUND', key, String(receipt), ...option('COST', cost)]));
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

const RESENDS = 'this client sends a command again when the connection is lost before the reply has come, '
  + 'and the second one would be counted too. Make it with maxRetriesPerRequest: 0 (ioredis) or '
  + 'retryDelayOnFailover: 0 (a Cluster of ioredis), or pass allowResend: true';

function pairs(limits) {
  return [limits].flat().flatMap(({ window, limit }) => [String(window), String(limit)]);
}

function option(name, value) {
  return value === undefined ? [] : [name, String(value)];
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
