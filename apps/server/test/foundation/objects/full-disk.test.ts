import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWithFile } from '../../audience/contact-lists/contact-files.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { addFiles, createBase, formOf, sendFiles } from '../../voices/knowledge-bases/documents.ts';
import { statementOn } from '../database/statement-on.ts';
import { mayMount, mount, unmount } from './mount.ts';

const MEBIBYTE = 1024 * 1024;
let dataDir: string;
let server: TestServer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'trunkline-full-'));
  if (mayMount) await mount(dataDir, '512k');
  server = await startTestServer({ config: { dataDir } });
});
afterAll(async () => {
  await server.stop();
  if (mayMount) await unmount(dataDir);
  await rm(dataDir, { recursive: true });
});

const get = async (path: string) => (await fetch(server.url + path)).text();
const partial = () => readdir(join(dataDir, 'objects', '.incoming'));

async function expectNoRoom(response: Response, what: string): Promise<void> {
  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '30']);
  const error = `${what} has no room left. Try again later.`;
  expect(await response.json()).toMatchObject({ code: 'unavailable', error });
}

test.runIf(mayMount)('a file that finds no room is refused, leaves nothing behind, and is told', async () => {
  const { client } = server;
  const body = { name: 'Patients', fileName: 'patients.csv', defaultCountry: 'US' };
  const { data } = await client.POST('/v1/calls/contact-lists', { body });
  const { uploadUrl, uploadHeaders: headers } = data!;
  await expectNoRoom(
    await fetch(uploadUrl, { method: 'PUT', headers, body: 'x'.repeat(4 * MEBIBYTE) }),
    'The place of files',
  );
  expect(await partial()).toEqual([]);
  expect(await get('/readyz')).toBe('ok\nthe last file could not be stored: its disk is full\n');
  await expect.poll(() => get('/metrics')).toMatch(/^trunkline_warnings 1$/m);

  const kbId = await createBase(server);
  const files = formOf({ 'small.txt': 'Open on Saturdays.', 'large.txt': 'x'.repeat(4 * MEBIBYTE) });
  await expectNoRoom(await sendFiles(server, kbId, files), 'The place of files');
  expect(await partial()).toEqual([]);

  await addFiles(server, kbId, { 'small.txt': 'Open on Saturdays.' });
  await createWithFile(server, 'phone_number\n+14155550100\n');
  expect(await get('/readyz')).toBe('ok\n');
  await expect.poll(() => get('/metrics')).toMatch(/^trunkline_warnings 0$/m);
});

test("a full disk of the database's is told in the same way", async () => {
  const connection = { connectionString: server.connectionString };
  await statementOn(
    connection,
    `create function full_disk() returns trigger language plpgsql
       as $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
     create trigger full_disk before insert on knowledge_bases execute function full_disk()`,
  );
  const create = () =>
    fetch(`${server.url}/v1/knowledge-bases`, {
      method: 'POST',
      headers: { 'X-API-Key': server.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Clinic' }),
    });
  await expectNoRoom(await create(), 'The database');
  expect(await get('/readyz')).toBe("ok\nthe database's disk is full: nothing can be written\n");
  await server.database.inEngine(({ db }) => sql`drop trigger full_disk on knowledge_bases`.execute(db));
  expect((await create()).status).toBe(201);
});
