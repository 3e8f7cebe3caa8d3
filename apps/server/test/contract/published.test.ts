import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
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

const here = fileURLToPath(new URL('../..', import.meta.url));
/** What the server is installed with. */
const sip = path.dirname(fileURLToPath(import.meta.resolve('@trunkline/sip/package.json')));
const dataDir = mkdtempSync(path.join(tmpdir(), 'trunkline-published-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('the published server is plain JavaScript, and checks a contact file in its thread, and reads a document in its process', {
  timeout: 180_000,
}, async () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json');
  for (const cwd of [sip, here]) {
    execFileSync(process.execPath, [path.join(path.dirname(tsc), 'bin/tsc'), '-p', 'tsconfig.build.json'], { cwd });
  }
  const { connection, drop } = await freshDatabase();
  const apiKey = newKey('test');
  const server = await startServerProcess(
    { DATABASE_URL: connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey },
    [path.join(here, manifest.bin['trunkline-server'])],
  );
  try {
    const client = createClient({ baseUrl: server.url, apiKey });
    const file = 'phone,city\n+14155550100,London\n+14155550186,Paris\n12,Nowhere\n';
    const { list, upload } = await client.uploadContactList({ name: 'People', file });
    expect(upload.metadata).toMatchObject({ validRows: 2, invalidRows: 1 });
    expect((await client.confirmContactList(list.id)).totalEntries).toBe(2);

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
