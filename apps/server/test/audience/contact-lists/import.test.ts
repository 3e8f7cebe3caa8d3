import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseUploads } from '../../../src/audience/contact-lists/erase-uploads.ts';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { noteLateSound } from '../../../src/foundation/values/sound-first.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { meanwhile } from '../../race.ts';
import { insertRows } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import {
  addFile,
  confirm,
  createWithFile,
  entriesOf,
  framesOf,
  importFile,
  lastEventId,
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

test('a file waits for sound that is late, and is imported all the same', async () => {
  const late = setInterval(noteLateSound, 5);
  const began = performance.now();
  try {
    await importFile(server, file);
  } finally {
    clearInterval(late);
  }
  expect(performance.now() - began).toBeGreaterThan(2 * 990);
});

test('an import that takes long is answered after 10 seconds, and goes on', async () => {
  const { id, uploadID } = await importFile(server, file);
  const more = await addFile(server, id, 'phone\n+14155550102\n');
  const last = await lastEventId(server, more);
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
  const rest = await framesOf(await openEvents(server, more, last));
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
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"list_id" in%'
            and datname = current_database()`.execute(db);
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

test('entries that others delete or change meanwhile keep none from being erased', async () => {
  const { database } = server;
  const [workspaceId, uploadId] = [newUuid(), newUuid()];
  const ofUpload = sql`workspace_id = ${workspaceId} and upload_id = ${uploadId}`;
  await database.inEngine(({ db }) =>
    sql`
      insert into contact_list_entries (workspace_id, upload_id, phone_number, row_number, "values")
      select ${workspaceId}, ${uploadId}, 14155560000 + i, i, '{}' from generate_series(1, 5001) as i`.execute(db),
  );
  const job = { workspaceId, uploadIds: [uploadId], files: [] };
  await meanwhile(
    database,
    async ({ db }) => {
      await sql`delete from contact_list_entries where ${ofUpload} and row_number = 7`.execute(db);
      await sql`update contact_list_entries set name = 'Ada' where ${ofUpload} and row_number = 8`.execute(db);
    },
    () => eraseUploads({ database } as never, job, new AbortController().signal),
  );
  const { rows } = await database.inEngine(({ db }) =>
    sql`select from contact_list_entries where ${ofUpload}`.execute(db),
  );
  expect(rows).toEqual([]);
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
  const { data } = await server.client.GET('/v1/calls/campaigns', { params: { query: { listId: id } } });
  const [campaign] = data!.data.items;
  expect([data!.data.totalCount, campaign!.status]).toEqual([1, status]);
  const named = `the ${status} campaign "${campaign!.name}" (${campaign!.id})`;
  expect([response.status, error]).toEqual([
    409,
    {
      code: 'contact_list_in_use',
      error: `T${named.slice(1)} uses this list. Stop or cancel it first.`,
      details: [{ path: '/path/id', message: `is used by ${named}` }],
    },
  ]);
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

const lists = '/v1/calls/contact-lists';
const at = (id: string) => ({ params: { path: { id } } });
const entryAt = (id: string, phoneNumber: string) => ({ params: { path: { id, phoneNumber } } });
const addEntries = (id: string, entries: object[]) =>
  server.client.POST(`${lists}/{id}/entries`, { ...at(id), body: { entries: entries as [] } });

test('entries come as JSON into a list without a file, which is ready then', async () => {
  const made = await server.client.POST(lists, { body: { name: 'Walk-ins', defaultCountry: 'US' } });
  const { id } = made.data!;
  const sent = [
    { phoneNumber: '(415) 555-0101', name: 'Ana', timezone: 'Europe/Madrid', variables: { city: 'Lima' } },
    { phoneNumber: '+14155550102' },
    { phoneNumber: '+1 415 555 0101' },
    { phoneNumber: 'x' },
  ];
  const { data, response } = await addEntries(id, sent);
  expect(response.status).toBe(200);
  expect(data).toMatchObject({ added: 2, updated: 0, totalEntries: 2 });
  expect(data!.rejected.map(({ index, code }) => [index, code])).toEqual([
    [2, 'duplicate'],
    [3, 'invalid_phone'],
  ]);
  expect((await read(id)).data).toMatchObject({
    status: 'ready',
    totalEntries: 2,
    uploadDetails: { status: 'pending' },
  });
  server.clock.advance(1000);
  const more = [
    { phoneNumber: '+14155550101', variables: { zip: '9' } },
    { phoneNumber: '+14155550103', name: 'Cy' },
  ];
  expect((await addEntries(id, more)).data).toEqual({ added: 1, updated: 1, totalEntries: 3, rejected: [] });
  const entries = (await entriesOf(server, id)).toSorted((a, b) => (a.phoneNumber < b.phoneNumber ? -1 : 1));
  expect(entries.map(({ phoneNumber, name, variables }) => [phoneNumber, name, variables])).toEqual([
    ['+14155550101', 'Ana', { city: 'Lima', zip: '9' }],
    ['+14155550102', undefined, {}],
    ['+14155550103', 'Cy', {}],
  ]);
  expect(Date.parse(entries[2]!.createdAt) - Date.parse(entries[1]!.createdAt)).toBeGreaterThanOrEqual(1000);
  const uploads = await server.client.GET(`${lists}/{id}/uploads`, at(id));
  expect(uploads.data!.items.map(({ id: uploadId }) => uploadId)).toEqual([made.data!.uploadDetails.id]);
  expect((await addEntries(id, [{ phoneNumber: 'x' }])).data).toMatchObject({ added: 0, totalEntries: 3 });
});

test('an entry is changed and removed, whatever brought it; a file brings more', async () => {
  const { id } = await importFile(server, file);
  await addEntries(id, [{ phoneNumber: '+14155550103', variables: { city: 'Rome', zip: '1' } }]);
  const change = (phoneNumber: string, body: object) =>
    server.client.PATCH(`${lists}/{id}/entries/{phoneNumber}`, { ...entryAt(id, phoneNumber), body });
  const changed = await change('+14155550101', {
    name: null,
    timezone: 'asia/tokyo',
    variables: { city: null, zip: '7' },
  });
  expect(changed.response.status).toBe(200);
  expect(changed.data).toMatchObject({ timezone: 'Asia/Tokyo', timezoneSource: 'column', variables: { zip: '7' } });
  for (const gone of ['name', 'city']) expect({ ...changed.data, ...changed.data!.variables }).not.toHaveProperty(gone);
  expect((await change('+14155550103', { name: 'Cy' })).data).toMatchObject({
    name: 'Cy',
    variables: { city: 'Rome' },
  });
  expect((await change('+14155550103', { timezone: 'Mars/Olympus' })).error!.details![0]!.path).toBe('/body/timezone');
  const long = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`v${at}`, 'x']));
  expect((await change('+14155550103', { variables: long })).response.status).toBe(400);
  expect((await change('+14155550199', { name: 'x' })).response.status).toBe(404);
  const gone = (number: string) => server.client.DELETE(`${lists}/{id}/entries/{phoneNumber}`, entryAt(id, number));
  expect((await gone('+14155550102')).data).toEqual({ id: '+14155550102', deleted: true });
  expect((await gone('+14155550102')).response.status).toBe(404);
  const ids = await addFile(server, id, 'phone,city\n+14155550103,Bari\n+14155550104,Turin\n');
  await validated(server, ids);
  expect((await confirm(server, ids)).data).toMatchObject({ totalEntries: 3 });
  const entries = (await entriesOf(server, id)).map(({ phoneNumber, variables }) => [phoneNumber, variables]);
  expect(entries.toSorted()).toEqual([
    ['+14155550101', { zip: '7' }],
    ['+14155550103', { city: 'Bari', zip: '1' }],
    ['+14155550104', { city: 'Turin' }],
  ]);
});

test('a list gets another name; only the server changes those of batches', async () => {
  const { id } = await importFile(server, file);
  const rename = (list: string, body: object) => server.client.PATCH(`${lists}/{id}`, { ...at(list), body });
  expect((await rename(id, { name: 'Renamed' })).data).toMatchObject({ id, name: 'Renamed', totalEntries: 2 });
  expect((await rename(id, {})).data).toEqual((await read(id)).data);
  await server.database.inEngine(({ db }) =>
    sql`update contact_lists set type = 'batch' where id = ${fromId(id)}`.execute(db),
  );
  const answers = [
    await rename(id, { name: 'x' }),
    await addEntries(id, [{ phoneNumber: '+14155550109' }]),
    await server.client.PATCH(`${lists}/{id}/entries/{phoneNumber}`, { ...entryAt(id, '+14155550101'), body: {} }),
    await server.client.DELETE(`${lists}/{id}/entries/{phoneNumber}`, entryAt(id, '+14155550101')),
  ];
  expect(answers.map(({ response, error }) => [response.status, error!.code])).toEqual(
    answers.map(() => [409, 'invalid_state']),
  );
  const none = `list_${'0'.repeat(32)}`;
  expect([(await rename(none, { name: 'x' })).response.status, (await addEntries(none, [{}])).response.status]).toEqual(
    [404, 404],
  );
});

test('numbers of a do-not-call list count at once, and need a permission more to be taken off', async () => {
  const made = await server.client.POST(lists, { body: { name: 'Never', type: 'dnd' } });
  const { id } = made.data!;
  await addEntries(id, [{ phoneNumber: '+14155550188' }]);
  const held = async () =>
    (await server.client.GET('/v1/calls/do-not-call', { params: { query: { searchText: '0188' } } })).data!.items
      .length;
  expect(await held()).toBe(1);
  const writer = server.clientOf(await keyWith(server, { permissions: ['contact_lists:write'] }));
  const path = `${lists}/{id}/entries/{phoneNumber}` as const;
  expect((await writer.DELETE(path, entryAt(id, '+14155550188'))).response.status).toBe(403);
  expect((await server.client.DELETE(path, entryAt(id, '+14155550188'))).response.status).toBe(200);
  expect(await held()).toBe(0);
});

test('an entry that comes while a campaign still takes its contacts is not among them', async () => {
  const { id } = (await server.client.POST(lists, { body: { name: 'Late' } })).data!;
  await addEntries(id, [{ phoneNumber: '+14155550101' }]);
  const uploadsOf = async () => {
    const { rows } = await server.database.inEngine(({ db }) =>
      sql<{ id: string; workspace_id: string }>`
        select id, workspace_id from contact_list_uploads where list_id = ${fromId(id)} and by_json order by id`.execute(
        db,
      ),
    );
    return rows;
  };
  const [first] = await uploadsOf();
  const { workspace_id } = first!;
  const campaign = newUuid();
  const adding = { status: 'paused' as const, contacts_added: false, adding_uploads: [first!.id] };
  await server.database.inEngine(async ({ db }) => {
    // As add-contacts.ts holds it while it takes them.
    await sql`select pg_advisory_xact_lock(hashtextextended(${campaign}, 0))`.execute(db);
    await server.database.inEngine((tx) => insertRows(tx.db, 'campaigns', [{ workspace_id, id: campaign, ...adding }]));
    await addEntries(id, [{ phoneNumber: '+14155550102' }]);
  });
  expect(await uploadsOf()).toHaveLength(2);
  await addEntries(id, [{ phoneNumber: '+14155550103' }, { phoneNumber: '+14155550102', name: 'Bo' }]);
  expect(await uploadsOf()).toHaveLength(2);
  expect((await read(id)).data!.totalEntries).toBe(3);
});
