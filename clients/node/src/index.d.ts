/** A connected client: node-redis (createClient, createClientPool, createCluster, createSentinel) or ioredis (Redis, Cluster). */
export type Client =
  | { call(command: string, ...args: any[]): Promise<unknown> }
  | { sendCommand(...args: any[]): Promise<unknown> };

/** Text, or bytes. */
export type Key = string | Buffer;

/** Seconds as a number, or text with a unit: `250ms`, `30s`, `5m`, `24h`, `7d`. */
export type Duration = string | number;

/** At most `limit` units in any interval of that length. */
export interface Limit {
  window: Duration;
  limit: number;
}

/** How a window stands after the call. */
export interface Standing {
  limit: number;
  /** The units left. */
  remaining: number;
  /** Until a call of the same cost fits: 0 for now, -1 for never. */
  retryAfterMs: number;
  /** Until the window is empty: 0 if it is. */
  resetAfterMs: number;
  /** Until its oldest unit leaves: 0 if it is empty. */
  oldestAfterMs: number;
}

export interface Decision {
  admitted: boolean;
  /** What `refund` takes; 0 unless the call was admitted and asked for one. */
  receipt: number;
  /** The longest wait of the windows; -1, never, if one of them says so. */
  retryAfterMs: number;
  /** In the order of the call. */
  windows: Standing[];
}

export interface CheckOptions {
  /** Units that the call takes: 1 unless given. */
  cost?: number;
  /** Calls of the same slot of that length share one entry. Not with `receipt`. */
  resolution?: Duration;
  /** Admits and records whatever the limits say. */
  force?: boolean;
  /** Asks for a receipt. */
  receipt?: boolean;
}

/** A key with many refusals lately: how many, and by how much that may be too high. */
export interface Offender {
  key: string;
  refused: number;
  tooHighBy: number;
}

export interface Options {
  /** The longest that a call waits for its answer; the client's own limits unless given. A call that ran out of it may have been counted. */
  timeoutMs?: number;
  /** For how long after a call without an answer the next ones fail at once, without asking: 0 unless given. */
  pauseMs?: number;
  /** Accept a client that sends a command again after a lost connection: such a call can be counted twice. */
  allowResend?: boolean;
}

/**
 * The commands of the module. Each call is one command and one round trip. An error reply of the server, and a lost
 * connection, arrive as the client's own error.
 */
export class Slidewin {
  /** Throws a TypeError for a client that sends commands twice: see `allowResend`. */
  constructor(client: Client, options?: Options);

  /** SLIDEWIN.CHECK: admits and records, or refuses and changes nothing. All limits must hold. */
  check(key: Key, limits: Limit | readonly Limit[], options?: CheckOptions): Promise<Decision>;

  /** SLIDEWIN.PEEK: what `check` would answer now. It changes nothing. In a cluster of node-redis a replica may answer. */
  peek(key: Key, limits: Limit | readonly Limit[], options?: { cost?: number }): Promise<Decision>;

  /** SLIDEWIN.REFUND: gives back what the admission of this receipt took, or `cost` units of it. Answers the units given back. */
  refund(key: Key, receipt: number, options?: { cost?: number }): Promise<number>;

  /** DEL: forgets all that was admitted. Answers whether there was anything. */
  reset(key: Key): Promise<boolean>;

  /** SLIDEWIN.OFFENDERS: the keys with the most refusals lately, heaviest first; in a cluster those of all primaries. */
  offenders(options?: { count?: number; reset?: boolean }): Promise<Offender[]>;

  /** Any command on this key, whole, with the same limits on waiting. `readonly`: a replica may answer. */
  send(key: Key, readonly: boolean, command: readonly (string | Buffer)[]): Promise<unknown>;
}

/** No answer within `timeoutMs`, or not asked because of `pauseMs`: then `paused`, and `cause` is the error before. */
export class NoAnswerError extends Error {
  paused: boolean;
}
