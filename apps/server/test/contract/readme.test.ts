import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../../..');
const page = readFileSync(path.join(root, 'README.md'), 'utf8');
const firstCalls = page.slice(page.indexOf('## First calls'), page.indexOf('## What works'));
const blocks = (language: string) =>
  [...firstCalls.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) => code!);

const hasPrograms = spawnSync('sh', ['-c', 'command -v bash && command -v curl && command -v jq']).status === 0;

/** Where the reader is: beside the docs, with the client at hand, and with no clone to leave files in. */
const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-readme-'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 100 } });
  symlinkSync(path.join(root, 'docs'), path.join(folder, 'docs'));
  mkdirSync(path.join(folder, 'packages/client'), { recursive: true });
  mkdirSync(path.join(folder, 'node_modules/@trunkline'), { recursive: true });
  symlinkSync(path.join(root, 'packages/client'), path.join(folder, 'node_modules/@trunkline/client'));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const env = { PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}` };

/** As the reader writes it, who has this server and key. */
const asRead = (code: string) => code.replace('http://localhost:8080', server.url).replace('tl_live_…', server.apiKey);

test.skipIf(!hasPrograms)(
  'the first calls that the README shows go as they are written (needs bash, curl and jq)',
  async () => {
    // The command line's block asks for the key, and its tests follow it.
    const shell = blocks('sh').filter((code) => !code.includes('alias trunkline'));
    const [program] = blocks('ts');
    expect(shell).toHaveLength(3);
    const [, file] = /as `(\S+\.mts)`/.exec(firstCalls)!;
    writeFileSync(path.join(folder, file!), asRead(program!));
    writeFileSync(path.join(folder, 'read.sh'), ['set -euo pipefail', ...shell.map(asRead)].join('\n'));
    const { stdout } = await run('bash', ['read.sh'], { cwd: folder, env }).catch((error) =>
      expect.unreachable(`${error.stdout}\n${error.stderr}`),
    );
    expect(stdout).toContain('event: upload.validated');
    expect(stdout).toContain('{ totalRows: 3, validRows: 2, invalidRows: 1, duplicateRows: 0 }');

    const { items: campaigns } = await server.client.campaigns.list();
    expect(campaigns.map(({ status }) => status)).toEqual(['completed', 'completed']);
    for (const { id } of campaigns) {
      const { items } = await server.client.campaigns.listContacts(id);
      expect(items.map(({ lastOutcome }) => lastOutcome).sort()).toEqual(['answered', 'busy']);
    }
    const { items: runs } = await server.client.workflowRuns.listRuns();
    expect(runs.map(({ status }) => status)).toEqual(['completed']);
  },
);

test('the campaign of the client’s README runs as it is written', async () => {
  const readme = readFileSync(path.join(root, 'packages/client/README.md'), 'utf8');
  const [, file, program, command] = /This is `(\S+)`.*?```ts\n(.*?)```.*?```sh\n(.*?)```/s.exec(readme)!;
  writeFileSync(path.join(folder, file!), asRead(program!));
  // The client is built before it is installed; here its sources serve.
  const sources = { NODE_OPTIONS: '--conditions=source' };
  const { stdout } = await run('sh', ['-ec', asRead(command!)], { cwd: folder, env: { ...env, ...sources } });
  expect(stdout.trim().split('\n').at(-1)).toBe('completed');
});
