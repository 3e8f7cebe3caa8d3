import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { type ServerProcess, startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';
import { confirm, createWithFile, framesOf, openEvents, validated } from './contact-files.ts';

const apiKey = newKey('test');
let database: Awaited<ReturnType<typeof freshDatabase>>;
let dataDir: string;
let client: pg.Client;
/** A server of its own process, and one of this: on one database and one data folder. */
let other: ServerProcess;
let here: TestServer | undefined;

beforeEach(async () => {
  database = await freshDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-two-servers-'));
  client = new pg.Client(database.connection);
  await client.connect();
  const { connectionString } = database.connection;
  other = await startServerProcess({ DATABASE_URL: connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey });
});
afterEach(async () => {
  await other.kill();
  await here?.stop();
  here = undefined;
  await client.end();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const startHere = () =>
  startTestServer({ connectionString: database.connection.connectionString, apiKey, config: { dataDir } });

const stateOf = async (uploadID: string) => {
  const text = `select status, rows_read from contact_list_uploads where id = $1`;
  await client.query(`select set_config('trunkline.engine', 'on', false)`);
  return (await client.query(text, [fromId(uploadID)])).rows[0];
};
const staged = async (uploadID: string): Promise<number> => {
  const text = 'select count(*)::int as rows from contact_list_entries_all where upload_id = $1';
  return (await client.query(text, [fromId(uploadID)])).rows[0].rows;
};

/** The calls that tests make, to the other server. */
async function toOther(): Promise<TestServer> {
  const { default: createClient } = await import('openapi-fetch');
  const asked = createClient({ baseUrl: other.url, headers: { 'X-API-Key': apiKey } });
  return { url: other.url, apiKey, client: asked } as unknown as TestServer;
}

test('a stream on one server shows an upload that another validates', async () => {
  const there = await toOther();
  const body = { name: 'Slow', fileName: 'slow.csv' };
  const list = (await there.client.POST('/v1/calls/contact-lists', { body })).data!;
  const ids = { id: list.id, uploadID: list.uploadDetails.id };
  // The validation by the other server stands still before its first row until this lock is gone.
  const blocker = new pg.Client(database.connection);
  await blocker.connect();
  await blocker.query(`begin; select set_config('trunkline.engine', 'on', true)`);
  const locked = await blocker.query('select id from contact_lists where id = $1 for update', [fromId(ids.id)]);
  expect(locked.rowCount).toBe(1);
  const headers = list.uploadHeaders;
  await fetch(list.uploadUrl, { method: 'PUT', headers, body: 'phone,city\n+14155550101,Lima\n' });
  await until(async () => (await stateOf(ids.uploadID)).status === 'validating');

  here = await startHere();
  const [first, all] = (await openEvents(here, ids)).body!.tee();
  await first.getReader().read();
  // Long enough since the last word of progress for the next one to be due.
  await sleep(500);
  await blocker.query('commit');
  await blocker.end();
  // On a machine that stalls for seconds the upload is taken over, and begun anew, before a row of it was read.
  const isAnew = ({ event }: { event: string }, at: number) => at > 0 && event === 'upload.validating';
  const frames = (await framesOf(new Response(all))).filter((frame, at) => !isAnew(frame, at));
  expect(frames.map((frame) => frame.event)).toEqual(['upload.validating', 'upload.progress', 'upload.validated']);
  expect(frames[1]!.data.data.progress).toEqual({ rowsRead: 1, bytesRead: 29, bytesTotal: 29 });
  expect(frames[2]!.data.data).not.toHaveProperty('progress');

  const rest = openEvents(here, ids, frames.at(-1)!.id).then(framesOf);
  await confirm(there, ids);
  expect((await rest).map((frame) => frame.event)).toEqual(['upload.processing', 'upload.processed']);
});

test('a server that dies in the middle of a validation: another begins it anew', async () => {
  const count = 200_000;
  let file = 'phone,city\n';
  for (let i = 0; i < count; i += 1) file += `+1415${2_000_000 + i},Lima ${i}\n`;
  const ids = await createWithFile(await toOther(), `${file}12,\n+14152000000,\n`);
  // Soon: it goes on meanwhile.
  await expect.poll(() => staged(ids.uploadID), { interval: 20 }).toBeGreaterThan(0);
  await other.kill();
  const left = await staged(ids.uploadID);
  expect((await stateOf(ids.uploadID)).status).toBe('validating');
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(count);
  // As an erasure leaves it that took a person out of these rows.
  const erased = 'update contact_list_uploads set valid_rows = valid_rows - 1 where id = $1';
  await client.query(erased, [fromId(ids.uploadID)]);

  here = await startHere();
  const upload = await validated(here, ids);
  expect(upload).toMatchObject({
    status: 'validated',
    metadata: { totalRows: count + 2, validRows: count, invalidRows: 1, duplicateRows: 1 },
    errors: [count + 2],
  });
  expect(await staged(ids.uploadID)).toBe(count);
  expect((await confirm(here, ids)).data!.totalEntries).toBe(count);
  const report = await (await fetch(upload.errorReportUrl!)).text();
  // Its head, the row without a number, and the one that repeats the first.
  expect(report.trim().split('\r\n')).toHaveLength(3);
});
