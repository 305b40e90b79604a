// The package as a registry would hand it over: its types, what is in it, and the README's first block.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startServer } from './servers.js';

const run = promisify(execFile);
const typescript = createRequire(import.meta.url).resolve('typescript/bin/tsc');

test('the types', async () => {
  await run(process.execPath, [typescript, '-p', join(import.meta.dirname, 'tsconfig.json')]).catch((error) => assert.fail(error.stdout));
});

test('installed in an empty folder, the README\'s first block runs', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'slidewin-package-'));
  t.after(() => rm(folder, { recursive: true }));
  const server = await startServer(t);
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', process.env.SLIDEWIN_TARBALL, 'redis@6.3.1'], { cwd: folder });
  const installed = join(folder, 'node_modules/slidewin');
  assert.deepEqual((await readdir(installed)).sort(), ['README.md', 'package.json', 'src']);
  const readme = await readFile(join(installed, 'README.md'), 'utf8');
  const [, block] = /```js\n(.*?)```/s.exec(readme);
  await writeFile(join(folder, 'first.mjs'), block);
  const { stdout } = await run(process.execPath, ['first.mjs'], { cwd: folder, env: { ...process.env, REDIS_URL: server.url } });
  const promised = [...block.matchAll(/console\.log\(.*\/\/ (.*)/g)].map(([, output]) => output);
  assert.ok(promised.length > 0);
  assert.deepEqual(stdout.trim().split('\n'), promised);
});

test('require works too, where Node.js lets it', async (t) => {
  const { Slidewin } = createRequire(import.meta.url)('slidewin');
  assert.equal(typeof Slidewin, 'function');
});
