import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import server from '../../../apps/server/package.json' with { type: 'json' };
import contract from '../../../openapi/package.json' with { type: 'json' };
import manifest from '../package.json' with { type: 'json' };

const root = path.dirname(import.meta.dirname);
const sources = ['--conditions=source', path.join(root, 'src/bin.ts')];

test('its version is the contract’s, and what it shares with the server is of the server’s versions', () => {
  expect(manifest.version).toBe(contract.version);
  const { '@trunkline/client': _, ...dependencies } = manifest.dependencies;
  const shared = Object.fromEntries(Object.entries(dependencies).filter(([name]) => !name.startsWith('@stoplight/')));
  expect(server.dependencies).toMatchObject(shared);
});

test('the README’s tests pass', async () => {
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  expect(blocks.length).toBeGreaterThan(3);
  // Within the package, so that it finds itself by its name.
  const folder = path.join(root, 'dist', `readme-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    const file = path.join(folder, 'readme.test.ts');
    await writeFile(file, blocks.join('\n'));
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];
    const types = ['--types', 'node', '--customConditions', 'source', '--allowImportingTsExtensions', '--ignoreConfig'];
    await promisify(execFile)('tsc', [...options, ...types, file], { cwd: root }).catch((error) =>
      expect.unreachable(error.stdout),
    );
    const args = ['--conditions=source', '--test', '--test-reporter=tap', file];
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, NODE_COMPILE_CACHE } });
    expect(stdout).toContain('# pass 4\n# fail 0');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the command says where it listens and how answers are forced, and tells each request', async () => {
  const child = spawn(process.execPath, [...sources, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await expect.poll(() => output).toContain('Ctrl-C ends it.');
  const url = output.match(/listens on (\S+),/)![1]!;
  expect(output).toContain("-H 'Prefer: code=404'");
  const { status } = await fetch(`${url}/v1/calls`, { headers: { 'X-API-Key': 'any', Prefer: 'code=403' } });
  expect(status).toBe(403);
  await expect.poll(() => output).toContain('GET /v1/calls 403\n');
  child.kill('SIGINT');
  await once(child, 'exit');
});

test.each([
  [['--help'], 0, 'Usage: trunkline-mock'],
  [['--port', 'x'], 1, '--port must be a number'],
  [['--colour'], 1, "Unknown option '--colour'"],
])('%j', (words, exitCode, said) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...sources, ...words], { encoding: 'utf8' });
  expect([status, stdout + stderr]).toEqual([exitCode, expect.stringContaining(said)]);
});
