/** A connected client: node-redis (createClient, createClientPool, createCluster, createSentinel) or ioredis (Redis, Cluster). */
export type Client =
  | { call(command: string, ...args: any[]): Promise<unknown> }
  | { sendCommand(...args: any[]): Promise<unknown> };

/** Text, or bytes. */
export type Key = string | Buffer;

/** 1 to 63 bytes. */
export type Id = string | Buffer;

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
  /** Names the request: the same again takes nothing, and is answered as the first was. Not with `resolution`. */
  id?: Id;
}

/** A key and one of its limits, for `mcheck`. */
export interface KeyLimit extends Limit {
  key: Key;
}

/** A place in line. */
export interface Place {
  /** What `refund` takes to give the place back; 0 if the wait would be too long, and nothing was recorded. */
  receipt: number;
  /** How long to wait before going ahead, or how long it would have been: 0 for now, -1 for never. */
  waitMs: number;
}

/** An admission of a key. */
export interface Admission {
  /** When it is recorded, since the epoch. */
  timeUs: number;
  /** What is left of it. */
  units: number;
  /** What `refund` takes; 0 if several admissions share the entry. */
  receipt: number;
  /** Empty if the call had none. */
  id: string;
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
  /** `check`, `mcheck` and `reserve` get an ID of their own, where the call gives none. So they count once, also through a client that sends commands again. */
  ids?: boolean;
  /** Accept a client that sends a command again after a lost connection: such a call can be counted twice. */
  allowResend?: boolean;
}

/**
 * The commands of the module. Each call is one command and one round trip. An error reply of the server, and a lost
 * connection, arrive as the client's own error.
 */
export class Slidewin {
  /** Throws a TypeError for a client that sends commands twice: see `ids` and `allowResend`. */
  constructor(client: Client, options?: Options);

  /** SLIDEWIN.CHECK: admits and records, or refuses and changes nothing. All limits must hold. */
  check(key: Key, limits: Limit | readonly Limit[], options?: CheckOptions): Promise<Decision>;

  /** SLIDEWIN.PEEK: what `check` would answer now. It changes nothing. In a cluster of node-redis a replica may answer. */
  peek(key: Key, limits: Limit | readonly Limit[], options?: { cost?: number }): Promise<Decision>;

  /** SLIDEWIN.MCHECK: admits the call and records it in each key, or refuses it and records it in none. In a cluster the keys need a common hash tag. */
  mcheck(limits: readonly KeyLimit[], options?: { cost?: number; force?: boolean; id?: Id }): Promise<Decision>;

  /** SLIDEWIN.RESERVE: takes the earliest place in line, if it is at most `maxWait` away: 0, or up to the longest window. */
  reserve(key: Key, maxWait: Duration, limits: Limit | readonly Limit[], options?: { cost?: number; id?: Id }): Promise<Place>;

  /** SLIDEWIN.REFUND: gives back what the admission of this receipt or ID took, or `cost` units of it. Answers the units given back. */
  refund(key: Key, receiptOrId: number | { id: Id }, options?: { cost?: number }): Promise<number>;

  /** SLIDEWIN.LOG: the newest admissions, newest first; 10 unless `count` says how many. In a cluster of node-redis a replica may answer. */
  log(key: Key, options?: { count?: number }): Promise<Admission[]>;

  /** A new ID with `ids: true`, else undefined: for a command of your own. */
  makeId(): string | undefined;

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
