import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import { startServerProcess } from '../../server-process.ts';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const [, firstCalls = ''] = /## First calls(.*?)```ts/s.exec(readFileSync(path.join(root, 'README.md'), 'utf8')) ?? [];
/** Without those of the command line, which asks for the key; its own tests follow it. */
const blocks = [...firstCalls.matchAll(/```sh\n(.*?)```/gs)]
  .map(([, block]) => block!)
  .filter((block) => !block.includes('alias trunkline'));

/** Runs lines as somebody would who pastes them into a shell, in an empty folder. Resolves to what they see. */
function paste(lines: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-c', `set -o pipefail; trap 'echo "failed: $BASH_COMMAND"' ERR\n${lines} 2>&1`], {
    cwd,
  });
  let seen = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      seen += part;
    });
  return new Promise((resolve) => child.once('close', () => resolve(seen)));
}

test("README's first calls, word for word, twice: they end, say what came of it, and leave no file", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-readme-'));
  const dataDir = mkdtempSync(path.join(tmpdir(), 'trunkline-readme-data-'));
  const { connection, drop } = await freshDatabase();
  const key = newKey('test');
  const settings = { DATABASE_URL: connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: key };
  const server = await startServerProcess({ ...settings, SIMULATOR_SPEED: '200' });
  onTestFinished(async () => {
    await server.kill();
    await drop();
    for (const each of [folder, dataDir]) rmSync(each, { recursive: true, force: true });
  });

  expect(blocks).toHaveLength(2);
  const lines = blocks
    .join('')
    .replace(/^export .*$/m, `export TRUNKLINE_BASE_URL=${server.url} TRUNKLINE_API_KEY=${key}`)
    .replaceAll('/tmp/people.csv', path.join(dataDir, 'people.csv'))
    .replace('docs/workflows', path.join(root, 'docs/workflows'));
  for (const time of ['the first time', 'the second']) {
    const seen = await paste(lines, folder);
    expect(seen, time).not.toMatch(/failed: |undefined|Error/);
    // Formatted: a line for each field.
    expect(seen, time).toMatch(/^ +"lastOutcome": "answered",?$/m);
    expect(seen, time).toMatch(/^ +"lastOutcome": "busy",?$/m);
    expect(seen, time).toContain('event: workflow_run.completed');
  }
  expect(readdirSync(folder)).toEqual([]);
});
