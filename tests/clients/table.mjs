// table.json for the Node.js clients: what each answer must be.
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { test } from 'node:test';

const { cases } = JSON.parse(readFileSync(new URL('table.json', import.meta.url)));

// Whether the answer is what the table says; its receipt, if it holds one.
function fits(want, got) {
  if (Array.isArray(want)) {
    return Array.isArray(got) && got.length === want.length && want.every((each, i) => fits(each, got[i]));
  }
  if (want === 'receipt') return Number.isSafeInteger(got) && got > 2 ** 50;
  if (typeof want === 'number') return got === want;
  if (want[0] === '~') return Number.isInteger(got) && got >= want.slice(1) - 20_000 && got <= +want.slice(1) + 1;
  return got instanceof Error && got.message.includes(want.slice(1));
}

// The rows, cut before each that needs a receipt: those between can go to the server together.
// With `errorsAlone` cut before and after an error too.
function batches(rows, errorsAlone) {
  const all = [[]];
  for (const row of rows) {
    const isError = errorsAlone && row[1][0] === '!';
    if (isError || row[0].includes('$receipt')) all.push([]);
    all.at(-1).push(row);
    if (isError) all.push([]);
  }
  return all.filter((batch) => batch.length > 0);
}

// Tests all cases. run(key, commands) answers a reply, or an error, for each command;
// with `errorsAlone` no command follows one that fails.
export async function testTable(client, run, { errorsAlone = false } = {}) {
  for (const { case: name, rows } of cases) {
    await test(`${client}: ${name}`, async () => {
      const key = `clé:${client}:${name}`;
      const failed = [];
      let receipt;
      for (const batch of batches(rows, errorsAlone)) {
        const words = (line) => line.split(' ').map((word) => ({ k: key, $receipt: receipt })[word] ?? word);
        const replies = await run(key, batch.map(([line]) => words(line)));
        batch.forEach(([line, want], i) => {
          const got = replies[i];
          if (!fits(want, got)) failed.push(`${line}: ${got instanceof Error ? got : JSON.stringify(got)}, want ${JSON.stringify(want)}`);
          if (line.includes('RECEIPT')) receipt = String(Array.isArray(got) ? got[0] : got);
        });
      }
      assert.deepEqual(failed, []);
    });
  }
}

// How many times the nodes of a cluster have sent a client elsewhere, from what `INFO errorstats` says of each.
export function moved(infos) {
  return infos.reduce((sum, info) => sum + Number(info.match(/errorstat_MOVED:count=(\d+)/)?.[1] ?? 0), 0);
}

export const url = process.env.REDIS_URL;
export const addresses = process.env.REDIS_CLUSTER.split(',').map((address) => {
  const [host, port] = address.split(':');
  return { host, port: Number(port) };
});
