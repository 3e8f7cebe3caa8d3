import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../src/ids.ts';
import { keyWith } from '../api-keys/keys.ts';
import { insertRows } from '../seed/rows.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';
import {
  addFile,
  confirm,
  createWithFile,
  entriesOf,
  framesOf,
  importFile,
  openEvents,
  validated,
} from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const file = 'phone,name,city\n+14155550101,Ana,Lima\n+14155550102,Bo,Oslo\n';

const remove = (id: string) => server.client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id } } });
const read = (id: string) => server.client.GET('/v1/calls/contact-lists/{id}', { params: { path: { id } } });

/** How many rows the table holds of these uploads, visible or not. */
const stored = (uploadIds: string[]) =>
  server.database.inEngine(async (tx) => {
    const rows = await tx.db
      .selectFrom('contact_list_entries')
      .select('phone_number')
      .where('upload_id', 'in', uploadIds.map(fromId))
      .execute();
    return rows.length;
  });

/** Gives the list to a campaign in this state. */
async function useInCampaign(
  id: string,
  status: 'draft' | 'scheduled' | 'running' | 'paused' | 'completed',
): Promise<void> {
  await server.database.inEngine(async ({ db }) => {
    const { workspace_id } = await db
      .selectFrom('contact_lists')
      .select('workspace_id')
      .where('id', '=', fromId(id))
      .executeTakeFirstOrThrow();
    const [campaign] = await insertRows(db, 'campaigns', [{ workspace_id, status }]);
    await insertRows(db, 'campaign_lists', [{ workspace_id, campaign_id: campaign!.id, list_id: fromId(id) }]);
  });
}

test('a second file adds new numbers, and gives new columns to those that are there', async () => {
  const { id } = await importFile(server, file);
  const more = await addFile(server, id, 'zip,phone,city,name\n999,+14155550102,Bergen,\n888,+14155550103,Rome,Cy\n');
  await validated(server, more);
  expect((await entriesOf(server, id)).map((entry) => entry.variables)).toEqual([{ city: 'Lima' }, { city: 'Oslo' }]);
  const { data } = await confirm(server, more);
  expect(data).toMatchObject({
    totalEntries: 3,
    uploadDetails: { status: 'processed', metadata: { importedRows: 2 } },
  });
  const entries = await entriesOf(server, id);
  expect(entries.map(({ phoneNumber, name, variables }) => [phoneNumber, name, variables])).toEqual([
    ['+14155550101', 'Ana', { city: 'Lima' }],
    ['+14155550102', 'Bo', { city: 'Bergen', zip: '999' }],
    ['+14155550103', 'Cy', { city: 'Rome', zip: '888' }],
  ]);
});

test('an import that takes long is answered after 10 seconds, and goes on', { timeout: 40_000 }, async () => {
  const { id, uploadID } = await importFile(server, file);
  const more = await addFile(server, id, 'phone\n+14155550102\n');
  await validated(server, more);
  // The merge has to wait for these rows. By a connection of its own: the server's end when they are idle.
  const holder = new pg.Client({ connectionString: server.connectionString });
  await holder.connect();
  try {
    await holder.query(`begin; select set_config('trunkline.engine', 'on', true)`);
    const text = 'select from contact_list_entries where upload_id = $1 for update';
    expect((await holder.query(text, [fromId(uploadID)])).rowCount).toBe(2);
    const began = Date.now();
    const { data, response } = await confirm(server, more);
    expect(response.status).toBe(200);
    expect(Date.now() - began).toBeGreaterThan(9_500);
    expect(data!.uploadDetails!.status).toBe('processing');
  } finally {
    await holder.end();
  }
  const rest = await framesOf(await openEvents(server, more, '4'));
  expect(rest.map((frame) => frame.event)).toEqual(['upload.processing', 'upload.processed']);
  expect((await read(id)).data!.totalEntries).toBe(2);
});

test('confirming many times at once imports once, and all get the same answer', async () => {
  const ids = await createWithFile(server, file);
  await validated(server, ids);
  const first = await Promise.all(Array.from({ length: 8 }, () => confirm(server, ids)));
  const more = await addFile(server, ids.id, 'phone\n+14155550102\n+14155550109\n');
  await validated(server, more);
  const second = await Promise.all(Array.from({ length: 8 }, () => confirm(server, more)));
  for (const [answers, totalEntries] of [
    [first, 2],
    [second, 3],
  ] as const) {
    expect(new Set(answers.map((answer) => JSON.stringify([answer.response.status, answer.data]))).size).toBe(1);
    expect(answers[0]!.data!.totalEntries).toBe(totalEntries);
  }
});

test('an answer that is read while an import commits shows all of it or nothing', async () => {
  const { id } = await importFile(server, file);
  const more = await addFile(server, id, 'phone\n+14155550109\n');
  await validated(server, more);
  const importer = new pg.Client({ connectionString: server.connectionString });
  await importer.connect();
  try {
    await importer.query(`select set_config('trunkline.engine', 'on', false)`);
    await importer.query(`update contact_list_uploads set status = 'processing' where id = $1`, [
      fromId(more.uploadID),
    ]);
    // The answer has read the list when it waits for the upload.
    await importer.query('begin; lock table contact_list_uploads in access exclusive mode');
    const reading = read(id);
    await until(() =>
      server.database.inEngine(async ({ db }) => {
        const { rows } = await sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"list_id" in%'`.execute(db);
        return rows.length === 1;
      }),
    );
    await importer.query(`update contact_list_uploads set status = 'processed', processed_at = updated_at, imported_rows = 1
      where id = '${fromId(more.uploadID)}'`);
    await importer.query(`update contact_lists set total_entries = 3 where id = '${fromId(id)}'; commit`);
    const { uploadDetails, totalEntries } = (await reading).data!;
    expect([uploadDetails!.status, totalEntries]).toEqual(['processing', 2]);
  } finally {
    await importer.end();
  }
});

test('two first files confirmed at once are both imported', async () => {
  const one = await createWithFile(server, file);
  const two = await addFile(server, one.id, 'phone\n+14155550102\n+14155550103\n');
  await Promise.all([validated(server, one), validated(server, two)]);
  await Promise.all([confirm(server, one), confirm(server, two)]);
  expect((await read(one.id)).data!.totalEntries).toBe(3);
  expect((await entriesOf(server, one.id)).map((entry) => entry.phoneNumber).sort()).toEqual([
    '+14155550101',
    '+14155550102',
    '+14155550103',
  ]);
});

test('an upload that is not validated yet cannot be confirmed', async () => {
  const body = { name: 'A', fileName: 'a.csv' };
  const { data } = await server.client.POST('/v1/calls/contact-lists', { body });
  const { response, error } = await confirm(server, { id: data!.id, uploadID: data!.uploadDetails.id });
  expect([response.status, error!.code]).toEqual([409, 'upload_not_validated']);
  expect(response.headers.get('x-should-retry')).toBe('false');
});

test('deleting erases entries, uploads and files', async () => {
  const { id, uploadID, upload } = await importFile(server, `${file}12,x,y\n`);
  expect((await fetch(upload.errorReportUrl!)).status).toBe(200);
  const { data, response } = await remove(id);
  expect([response.status, data]).toEqual([200, { id, deleted: true }]);
  expect((await read(id)).response.status).toBe(404);
  expect((await remove(id)).response.status).toBe(404);
  expect((await openEvents(server, { id, uploadID })).status).toBe(404);
  await until(async () => (await stored([uploadID])) === 0);
  await until(async () => (await fetch(upload.errorReportUrl!)).status === 404);
});

test('a stream ends when its list is deleted', async () => {
  const body = { name: 'A', fileName: 'a.csv' };
  const { data } = await server.client.POST('/v1/calls/contact-lists', { body });
  const stream = await openEvents(server, { id: data!.id, uploadID: data!.uploadDetails.id });
  await remove(data!.id);
  expect((await framesOf(stream)).length).toBeLessThanOrEqual(1);
});

test.each(['scheduled', 'running', 'paused'] as const)('a list of a %s campaign cannot be deleted', async (status) => {
  const { id } = await importFile(server, file);
  await useInCampaign(id, status);
  const { response, error } = await remove(id);
  expect([response.status, error!.code]).toEqual([409, 'contact_list_in_use']);
  expect(await entriesOf(server, id)).toHaveLength(2);
});

test.each(['draft', 'completed'] as const)('a list of a %s campaign stays, archived and empty', async (status) => {
  const { id, uploadID } = await importFile(server, file);
  await useInCampaign(id, status);
  expect((await remove(id)).response.status).toBe(200);
  expect((await read(id)).response.status).toBe(404);
  await until(async () => (await stored([uploadID])) === 0);
  const kept = await server.database.inEngine((tx) =>
    tx.db.selectFrom('contact_lists').select(['status', 'total_entries']).where('id', '=', fromId(id)).execute(),
  );
  expect(kept).toEqual([{ status: 'archived', total_entries: 0 }]);
});

test('a campaign that starts and a deletion at the same moment: the later one sees the earlier', async () => {
  const { id } = await importFile(server, file);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const starting = server.database.inEngine(async ({ db }) => {
    await db.selectFrom('contact_lists').select('id').where('id', '=', fromId(id)).forShare().execute();
    locked();
    await held;
  });
  await isLocked;
  const removing = remove(id);
  await useInCampaign(id, 'running');
  letGo();
  await starting;
  expect((await removing).response.status).toBe(409);
});

test('a do-not-call list takes do_not_call:write to delete', async () => {
  const { id } = await importFile(server, file, { type: 'dnd' });
  const send = async (permissions: string[]) => {
    const key = await keyWith(server, { permissions });
    const headers = { 'X-API-Key': key };
    return (await fetch(`${server.url}/v1/calls/contact-lists/${id}`, { method: 'DELETE', headers })).status;
  };
  expect(await send(['contact_lists:write'])).toBe(403);
  expect((await read(id)).response.status).toBe(200);
  expect(await send(['contact_lists:write', 'do_not_call:write'])).toBe(200);
});

test('a batch list takes no uploads', async () => {
  const { id } = await importFile(server, file);
  await server.database.inEngine((tx) =>
    tx.db.updateTable('contact_lists').set({ type: 'batch' }).where('id', '=', fromId(id)).execute(),
  );
  const params = { path: { id } };
  const { response, error } = await server.client.POST('/v1/calls/contact-lists/{id}/uploads', {
    params,
    body: { fileName: 'a' },
  });
  expect([response.status, error!.code]).toEqual([409, 'invalid_state']);
});

test('the first complete PUT wins', async () => {
  const body = { name: 'A', fileName: 'a.csv' };
  const { data } = await server.client.POST('/v1/calls/contact-lists', { body });
  const put = async (text: string) =>
    (await fetch(data!.uploadUrl, { method: 'PUT', headers: data!.uploadHeaders, body: text })).status;
  const statuses = await Promise.all([
    put('phone\n+14155550101\n'),
    put('phone\n+14155550102\n'),
    put('phone\n+14155550103\n'),
  ]);
  expect(statuses.sort()).toEqual([200, 409, 409]);
  const upload = await validated(server, { id: data!.id, uploadID: data!.uploadDetails.id });
  expect(upload.metadata).toMatchObject({ totalRows: 1, validRows: 1 });
});
