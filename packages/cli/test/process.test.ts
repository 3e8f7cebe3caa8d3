import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { client } from './cli.ts';

const bin = path.join(import.meta.dirname, '../src/bin.ts');

/** The program in a process of its own. */
function program(...words: string[]) {
  const { url, apiKey } = inject('server');
  const child = spawn(process.execPath, ['--conditions=source', bin, ...words], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      TRUNKLINE_BASE_URL: url,
      TRUNKLINE_API_KEY: apiKey,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => {
    output.stdout += part;
  });
  child.stderr.on('data', (part) => {
    output.stderr += part;
  });
  return { child, output, ended: once(child, 'close').then(([code]) => code as number | null) };
}

test('Ctrl-C ends a process that listens with 130, and no endpoint is left', async () => {
  const { child, output, ended } = program('webhooks', 'listen');
  await expect.poll(() => output.stderr).toMatch(/^Listening at http:\/\/127\.0\.0\.1:\d+\/\. Ctrl-C ends it\.\n$/);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(output).toEqual({
    stdout: '',
    stderr: expect.stringMatching(/Ctrl-C ends it\.\nStopped\. The endpoint is deleted\.\n$/),
  });
  expect((await client().webhooks.list()).items.map(({ description }) => description)).not.toContain(
    'trunkline webhooks listen',
  );
});

test('a reader who wants no more, as head, is no fault, and a body comes over standard input', async () => {
  const reader = program('agents', 'list', '--json');
  reader.child.stdout.destroy();
  expect(await reader.ended).toBe(0);
  expect(reader.output.stderr).toBe('');
  const writer = program('kb', 'create', '--data', '-', '--json');
  writer.child.stdin.end('{"name": "Piped"}');
  expect(await writer.ended).toBe(0);
  await client().knowledgeBases.delete(JSON.parse(writer.output.stdout).id);
});
