// What an array reply says. Numbers, also where the client was told to hand integers over as strings.

const FIELDS = 5;

/** The array of CHECK, PEEK and the like: `admitted`, or a receipt, then five integers for each window. */
export function decisionOf(reply) {
  const [first, ...fields] = reply.map(Number);
  const windows = [];
  for (let at = 0; at < fields.length; at += FIELDS) {
    const [limit, remaining, retryAfterMs, resetAfterMs, oldestAfterMs] = fields.slice(at, at + FIELDS);
    windows.push({ limit, remaining, retryAfterMs, resetAfterMs, oldestAfterMs });
  }
  const waits = windows.map((window) => window.retryAfterMs);
  return {
    admitted: first > 0,
    receipt: first > 1 ? first : 0,
    retryAfterMs: waits.includes(-1) ? -1 : Math.max(...waits),
    windows,
  };
}
