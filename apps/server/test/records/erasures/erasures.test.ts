import { createHmac, hkdfSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordingKey } from '../../../src/dialing/calls/recordings/recording.ts';
import type { EngineTx } from '../../../src/foundation/database/database.ts';
import { openDiskObjectStore } from '../../../src/foundation/objects/disk.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { stores } from '../../../src/platform/person-data/stores.ts';
import { stepNames } from '../../../src/records/erasures/steps.ts';
import { createWithFile, importFile, validated } from '../../audience/contact-lists/contact-files.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { meanwhile } from '../../race.ts';
import { insertRows, seedRow } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { DIGITS, insertRow, NUMBER, seedPerson } from './person.ts';
import { whereIs } from './where-is.ts';

const to_number = Number(DIGITS);
const OTHER = '+14155550143';
const DAY_MS = 24 * 3600 * 1000;

let server: TestServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer();
  workspaceId = (await one('select id from workspaces')) as string;
});
afterAll(() => server.stop());

const one = async (statement: string) =>
  Object.values(
    (await server.database.inEngine(({ db }) => sql.raw<Record<string, unknown>>(statement).execute(db))).rows[0] ?? {},
  )[0];

async function erase(phoneNumber = NUMBER) {
  const { data, error, response } = await server.client.POST('/v1/erasures', { body: { phoneNumber } });
  return { response, error, id: data?.id ?? '' };
}

const read = async (erasureId: string) =>
  (await server.client.GET('/v1/erasures/{erasureId}', { params: { path: { erasureId } } })).data!;

const insert = (table: string, row: Record<string, unknown>) => insertRow(server.database, table, row);

/** The erasure once it is over. What it waits for in between passes at once. */
async function completed(id: string) {
  await until(async () => {
    server.clock.advance(1000);
    return (await read(id)).status === 'completed';
  });
  return read(id);
}

/** A recording in the store of the server. */
async function record(roomId: string) {
  const directory = path.join(server.dataDir, 'objects');
  const options = { secrets: [''], baseUrl: () => '', clock: server.clock, log: pino({ level: 'silent' }) };
  const objects = await openDiskObjectStore({ directory, ...options });
  await objects.put(recordingKey(roomId), Readable.from([Buffer.from('sound')]), 100);
  await server.database.inEngine(({ db }) =>
    sql`
      insert into call_recordings (workspace_id, room_id, status, size_bytes, created_at, stored_at)
      values (${workspaceId}, ${roomId}, 'stored', 5, ${new Date()}, ${new Date()})`.execute(db),
  );
  return path.join(directory, recordingKey(roomId));
}

test('a number is nowhere after its erasure, calls stay countable, and another workspace keeps what it has', async () => {
  const elsewhere = await seedWorkspace(server.database);
  await seedPerson(server.database, elsewhere);
  const before = await whereIs(server, DIGITS);
  const seeded = await seedPerson(server.database, workspaceId);
  const sound = await record(seeded.call.id);
  const file = `phone,name\n${NUMBER},Ada\n${OTHER},Bob\n`;
  const list = await importFile(server, file);
  const unconfirmed = await createWithFile(server, `${file}${NUMBER},Ada\nx,${NUMBER}\n`);
  await validated(server, unconfirmed);
  const dnd = await importFile(server, `phone\n${NUMBER}\n`, { type: 'dnd' });
  await server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [NUMBER], reason: `${NUMBER} asked` } });
  const { data: exported } = await server.client.POST('/v1/exports', { body: { type: 'calls' } });
  const exportId = exported!.id;
  const readExport = () => server.client.GET('/v1/exports/{exportId}', { params: { path: { exportId } } });
  await until(async () => (await readExport()).data!.status === 'ready');
  const { data: waiting } = await server.client.POST('/v1/calls', {
    body: {
      agentId: 'anna',
      toNumber: OTHER,
      fromNumber: await boughtNumber(),
      scheduledAt: soon(),
      variables: { ask: NUMBER },
    },
  });
  const all = new Set([...(await whereIs(server, DIGITS)), ...before]);
  for (const store of [
    'calls.variables',
    'calls.to_number',
    'events.data',
    'webhook_deliveries.payload',
    'audit_log.resource_id',
    'rejected_rows.cells',
  ])
    expect(all).toContain(store);

  const kept = await personExport();
  for (const [kind, text] of [
    ['calls', 'Ada is ill.'],
    ['call_transcripts', 'I am Ada.'],
    ['campaign_contacts', 'Ada'],
    ['contact_list_entries', 'Ada'],
    ['workflow_runs', '"first"'],
    ['do_not_call', 'asked'],
  ])
    expect(kept.split('\n').some((line) => line.startsWith(kind!) && line.includes(text!.replaceAll('"', '""')))).toBe(
      true,
    );
  expect(kept).not.toContain('Bob,');

  const { response, id } = await erase();
  expect(response.status).toBe(202);
  expect(id).toMatch(/^ers_/);
  const gone = await completed(id);
  expect(gone).toMatchObject({ status: 'completed', erased: { calls: 2, contacts: 1, runs: 1 } });
  expect(gone.erased.entries).toBe(3);
  expect(gone).not.toHaveProperty('waitsFor');

  await forget(elsewhere);
  expect(await whereIs(server, DIGITS)).toEqual([]);
  expect(existsSync(sound)).toBe(false);

  const roomId = toId('room', seeded.call.id);
  const { data: call, error } = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } });
  expect(error).toBeUndefined();
  expect(call).toMatchObject({ toNumber: '+9990000000', outcome: 'answered', result: { converted: true } });
  expect(call!.agentEnd).toEqual({ reason: 'crashed', soundLeftOutMs: 0, framesMissed: 7 });
  for (const field of ['variables', 'metadata', 'externalId', 'sipReason']) expect(call).not.toHaveProperty(field);
  expect(call!.result).not.toHaveProperty('summary');
  const others = { path: { roomId: toId('room', seeded.other.id) } };
  const { data: theirs } = await server.client.GET('/v1/calls/{roomId}', { params: others });
  expect(theirs).toMatchObject({ toNumber: OTHER, variables: { friend: '+9990000000', name: 'Bob' } });
  const waitingCall = { path: { roomId: waiting!.roomId } };
  const { data: still } = await server.client.GET('/v1/calls/{roomId}', { params: waitingCall });
  expect(still).toMatchObject({ status: 'queued', variables: { ask: '+9990000000' } });
  const counted = { path: { id: list.id } };
  const { data: left } = await server.client.GET('/v1/calls/contact-lists/{id}', { params: counted });
  expect(left!.totalEntries).toBe(1);
  const confirmed = { path: unconfirmed };
  const confirming = '/v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm';
  expect((await server.client.POST(confirming, { params: confirmed })).data!.totalEntries).toBe(1);
  expect((await readExport()).data!.status).toBe('expired');
  const { data: log } = await server.client.GET('/v1/audit-log', {
    params: { query: { action: 'do_not_call.added' } },
  });
  // The seeded one and the erasure's own.
  const hidden = expect.stringMatching(/^hmac:[0-9a-f]{64}$/);
  expect(log!.data.items.map(({ resourceId }) => resourceId)).toEqual([hidden, hidden]);
  await server.client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id: dnd.id } } });
});

/** All that is kept about the number, as a file. */
async function personExport(phoneNumber = NUMBER): Promise<string> {
  const body = { type: 'person', filter: { phoneNumber } } as const;
  const reader = server.clientOf(await keyWith(server, { permissions: ['calls:read'] }));
  expect((await reader.POST('/v1/exports', { body })).response.status).toBe(403);
  const { data } = await server.client.POST('/v1/exports', { body });
  const at = { params: { path: { exportId: data!.id } } };
  const read = async () => (await server.client.GET('/v1/exports/{exportId}', at)).data!;
  await until(async () => (await read()).status === 'ready');
  return (await fetch((await read()).url!)).text();
}

/** Takes a workspace's rows away that hold the number, after another has erased it. */
async function forget(elsewhere: string) {
  const mine = await server.database.inEngine(({ db }) =>
    sql<{ calls: number; events: number; contacts: number }>`
      select (select count(*) from calls where workspace_id = ${elsewhere} and to_number = ${to_number}) as calls,
        (select count(*) from events where workspace_id = ${elsewhere} and data::text like ${`%${DIGITS}%`}) as events,
        (select count(*) from campaign_contacts where workspace_id = ${elsewhere} and phone_number = ${to_number}) as contacts`.execute(
      db,
    ),
  );
  expect(mine.rows).toEqual([{ calls: 1, events: 1, contacts: 1 }]);
  await server.database.inEngine(async ({ db }) => {
    await sql`
      delete from simulator_calls where room_id in (select id from calls where workspace_id = ${elsewhere})`.execute(
      db,
    );
    for (const { table } of stores)
      await sql`delete from ${sql.table(table)} where workspace_id = ${elsewhere}`.execute(db);
  });
}

const soon = () => new Date(server.clock.now().getTime() + DAY_MS).toISOString();

let bought: string | undefined;
async function boughtNumber(): Promise<string> {
  if (bought) return bought;
  const body = { phoneNumber: '+12125550199', provider: 'simulator' } as const;
  await server.client.POST('/v1/telephony/phone-numbers/buy', {
    body,
    params: { header: { 'Idempotency-Key': newUuid() } },
  } as never);
  bought = body.phoneNumber;
  return bought;
}

test('erasures are listed, newest first, and say of no number', async () => {
  const list = async (client = server.client) => (await client.GET('/v1/erasures')).data!;
  const { id } = await erase('+14155550199');
  const { id: later } = await erase('+14155550198');
  for (const each of [id, later]) await completed(each);
  const { items, totalCount } = await list();
  expect(items.slice(0, 2)).toEqual([await read(later), await read(id)]);
  expect(totalCount).toBe(items.length);
  expect(JSON.stringify(items)).not.toContain('415555');
  expect(
    await list(server.clientOf(await keyWith(server, { permissions: ['erasures:read'], workspace: 'Erases none' }))),
  ).toMatchObject({
    items: [],
    totalCount: 0,
  });
});

test('an erased number that was not to be called is still refused, is listed nowhere, and can be removed by name', async () => {
  const query = { searchText: DIGITS, includeTotal: true };
  expect((await server.client.GET('/v1/calls/do-not-call', { params: { query } })).data!.totalCount).toBe(0);
  const body = { agentId: 'anna', fromNumber: await boughtNumber(), toNumber: NUMBER };
  const refused = await server.client.POST('/v1/calls', { body });
  expect([refused.response.status, refused.error!.code]).toEqual([409, 'call_refused']);
  expect(refused.error!.details).toEqual([expect.objectContaining({ reason: 'do_not_call' })]);
  const recipients = [{ phoneNumber: NUMBER }, { phoneNumber: OTHER }];
  const batch = await server.client.POST('/v1/calls/batch', {
    body: { agentId: 'anna', fromNumber: await boughtNumber(), recipients },
  });
  expect(batch.data).toMatchObject({ rejectedRecipients: [{ index: 0, code: 'do_not_call' }] });
  const added = await server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [NUMBER] } });
  expect(added.data).toMatchObject({ added: 0, alreadyListed: 1 });
  expect(await one(`select count(*) from do_not_call`)).toBe(0);

  const { data: list } = await server.client.POST('/v1/calls/contact-lists', { body: { name: 'Again' } });
  const path = { id: list!.id };
  await server.client.POST('/v1/calls/contact-lists/{id}/entries', {
    params: { path },
    body: { entries: [{ phoneNumber: NUMBER }, { phoneNumber: OTHER }] },
  });
  const lists = [{ id: list!.id, role: 'contacts' as const }];
  const wanted = { name: 'Again', agentId: 'anna', fromNumber: await boughtNumber(), lists };
  const campaign = (await server.client.POST('/v1/calls/campaigns', { body: wanted })).data!.data;
  const at = { params: { path: { id: campaign.id } } };
  const preview = await server.client.POST('/v1/calls/campaigns/{id}/preview', at);
  expect(JSON.stringify(preview.data)).toContain('"do_not_call"');
  await server.client.POST('/v1/calls/campaigns/{id}/start', at);
  const contacts = async () => (await server.client.GET('/v1/calls/campaigns/{id}/contacts', at)).data!.data.items;
  await until(async () =>
    expect(await contacts()).toContainEqual(
      expect.objectContaining({ phoneNumber: NUMBER, state: 'skipped', reason: 'do_not_call' }),
    ),
  );

  const params = { path: { phoneNumber: NUMBER } };
  const removed = await server.client.DELETE('/v1/calls/do-not-call/{phoneNumber}', { params });
  expect(removed.response.status).toBe(200);
  expect((await server.client.DELETE('/v1/calls/do-not-call/{phoneNumber}', { params })).response.status).toBe(404);
  expect((await server.client.POST('/v1/calls', { body: { ...body, scheduledAt: soon() } })).response.status).toBe(202);
  await completed((await erase()).id);
});

test('what stays of a do-not-call entry is an HMAC under a key that the database does not have', async () => {
  const number = '+14155550190';
  await server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [number] } });
  await completed((await erase(number)).id);
  const key = Buffer.from(await readFile(path.join(server.dataDir, 'encryption.key'), 'utf8'), 'base64');
  const made = Buffer.from(hkdfSync('sha256', key, '', 'trunkline erased numbers', 32));
  const digest = createHmac('sha256', made)
    .update(`${workspaceId} ${number.slice(1)}`)
    .digest('hex');
  expect(await one(`select count(*) from do_not_call_erased where encode(digest, 'hex') = '${digest}'`)).toBe(1);
});

test('a number is no longer one of those that are free of hours that nobody has set', async () => {
  const trustedNumbers = ['+14155550171', '+14155550172'];
  await server.client.PATCH('/v1/workspace', { body: { trustedNumbers } });
  await erase(trustedNumbers[0]!);
  expect((await server.client.GET('/v1/workspace')).data!.data.trustedNumbers).toEqual(trustedNumbers.slice(1));
});

test('a number with a call that is up, and one of your own, are refused', async () => {
  const live = await seedRow(server.database, 'calls', { workspace_id: workspaceId, to_number: 14155550177 });
  const up = await erase('+14155550177');
  expect([up.response.status, up.error!.code]).toEqual([409, 'invalid_state']);
  await server.database.inEngine(({ db }) =>
    sql`update calls set ended_at = ${new Date()}, status = 'completed' where id = ${live.id}`.execute(db),
  );
  expect((await completed((await erase('+14155550177')).id)).erased.calls).toBe(1);
  const own = await erase(await boughtNumber());
  expect([own.response.status, own.error!.code]).toEqual([409, 'invalid_state']);
});

test('a call that begins meanwhile is waited for', async () => {
  const seeded = await seedRow(server.database, 'calls', { workspace_id: workspaceId, to_number: 14155550178 });
  await insert('erasures', {
    ...{ workspace_id: workspaceId, id: seeded.id, status: 'running', phone_number: 14155550178, ...cameTo('entries') },
    ...{ counts: {} },
    ...{ due_at: new Date(), created_at: new Date() },
  });
  const id = toId('ers', seeded.id);
  await until(async () => (await read(id)).waitsFor === 'call');
  await server.database.inEngine(({ db }) =>
    sql`update calls set ended_at = ${new Date()}, status = 'completed' where id = ${seeded.id}`.execute(db),
  );
  server.clock.advance(5000);
  expect((await completed(id)).erased.calls).toBe(1);
});

test('keys that bear the number stay as long as they keep it from being called twice, and then go', async () => {
  const number = '+14155550179';
  const { data: keyed, error } = await server.client.POST('/v1/calls', {
    params: { header: { 'Idempotency-Key': `call ${number}` } },
    body: { agentId: 'anna', fromNumber: await boughtNumber(), toNumber: number, scheduledAt: soon() },
  });
  expect(error).toBeUndefined();
  await seedRow(server.database, 'concurrency_keys', {
    ...{ workspace_id: workspaceId, key: number, last_ended_at: server.clock.now() },
  });
  const kinds = (await personExport(number)).split('\n').map((line) => line.split(',')[0]);
  expect(kinds).toEqual(expect.arrayContaining(['call_intents', 'idempotency_keys', 'concurrency_keys']));
  const { id } = await erase(number);
  await until(async () => (await read(id)).waitsFor === 'keys');
  expect(await whereIs(server, number.slice(1))).toEqual(
    expect.arrayContaining(['idempotency_keys.key', 'concurrency_keys.key', 'erasures.phone_number']),
  );
  const { data: call } = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId: keyed!.roomId } } });
  expect(call).toMatchObject({ status: 'cancelled', toNumber: '+9990000000' });
  server.clock.advance(DAY_MS + 60_000);
  expect(await read(id)).toMatchObject({ status: 'running', waitsFor: 'keys', waitsUntil: expect.any(String) });
  server.clock.advance(7 * DAY_MS);
  await completed(id);
  expect(await whereIs(server, number.slice(1))).toEqual([]);
});

test('an active run that holds the number is cancelled', async () => {
  const number = '+14155550180';
  const run = await seedRow(server.database, 'workflow_runs', {
    ...{ workspace_id: workspaceId, status: 'waiting_schedule', context: { phone: number } },
    ...{ due_at: new Date(Date.now() + 90 * DAY_MS), wake_at: new Date(Date.now() + 90 * DAY_MS) },
  });
  await completed((await erase(number)).id);
  expect(await one(`select status || context::text from workflow_runs where id = '${run.id}'`)).toBe('cancelled{}');
});

test('what is told of a run that called the number goes, though the number stands nowhere in it', async () => {
  const at = new Date();
  const run = await seedRow(server.database, 'workflow_runs', {
    ...{ workspace_id: workspaceId, status: 'completed', ended_at: at, context: { row: 7, first: 'Ada' } },
  });
  const ended = { status: 'completed', ended_at: at } as const;
  await seedRow(server.database, 'calls', {
    ...{ workspace_id: workspaceId, to_number: 14155550195, owner_kind: 'run', owner_id: run.id, ...ended },
  });
  const data = { id: toId('run', run.id), status: 'running', context: { first: 'Ada' }, output: { said: 'yes' } };
  const type = 'workflow_run.running';
  const event = { workspace_id: workspaceId, resource_id: run.id, id: newUuid(), type, data, created_at: at };
  await insert('events', { revision: 2, ...event });
  const { id: webhook_id } = await seedRow(server.database, 'webhooks', {
    ...{ workspace_id: workspaceId, status: 'disabled', event_types: [] },
  } as never);
  await seedRow(server.database, 'webhook_deliveries', {
    ...{
      workspace_id: workspaceId,
      webhook_id,
      status: 'delivered',
      event_type: type,
      payload: JSON.stringify({ data }),
    },
  });
  await completed((await erase('+14155550195')).id);
  const left = { id: data.id, status: 'running', context: {} };
  expect(await one(`select data from events where resource_id = '${run.id}'`)).toEqual(left);
  const payload = (await one(`select payload from webhook_deliveries where webhook_id = '${webhook_id}'`)) as string;
  expect(JSON.parse(payload)).toEqual({ data: left });
});

test('numbers in national form go, also from a run that was not called and a recipient who was rejected', async () => {
  const at = new Date();
  const run = await seedRow(server.database, 'workflow_runs', {
    ...{ workspace_id: workspaceId, status: 'completed', ended_at: at, context: { phone: '(415) 555-0196' } },
  });
  const other = await seedRow(server.database, 'workflow_runs', {
    ...{ workspace_id: workspaceId, status: 'completed', ended_at: at, context: { phone: '+44 (415) 555-0196' } },
  });
  const body = { agentId: 'anna', fromNumber: await boughtNumber(), defaultCountry: 'US' };
  const twice = [{ phoneNumber: '(415) 555-0196', externalId: 'ada' }, { phoneNumber: '1/415/555/0196' }];
  const { data, error } = await server.client.POST('/v1/calls/batch', {
    body: { ...body, recipients: twice, scheduledAt: soon() },
  });
  expect(error).toBeUndefined();
  expect(data!.rejectedRecipients).toEqual([
    { index: 1, phoneNumber: '1/415/555/0196', code: 'duplicate', error: expect.any(String) },
  ]);
  // The country of a batch counts like that of a list.
  const french = await seedRow(server.database, 'workflow_runs', {
    ...{ workspace_id: workspaceId, status: 'completed', ended_at: at, context: { phone: '06 12 34 56 78' } },
  });
  const inFrance = { defaultCountry: 'FR', recipients: [{ phoneNumber: '06 12 34 56 78' }], scheduledAt: soon() };
  expect((await server.client.POST('/v1/calls/batch', { body: { ...body, ...inFrance } })).response.status).toBe(202);
  await completed((await erase('+33612345678')).id);
  expect(await one(`select context from workflow_runs where id = '${french.id}'`)).toEqual({});
  await completed((await erase('+14155550196')).id);
  expect(await one(`select context from workflow_runs where id = '${run.id}'`)).toEqual({});
  expect(await one(`select context::text from workflow_runs where id = '${other.id}'`)).toContain('555-0196');
  expect(await one(`select rejected::text from batches where id = '${fromId(data!.batchId)}'`)).not.toMatch(/0196/);
});

test('a number is taken out of a campaign that is running, whose counts follow', async () => {
  const number = '+14155550181';
  const campaign = await seedRow(server.database, 'campaigns', {
    ...{ workspace_id: workspaceId, status: 'paused', contacts_added: true, pending: 2, total_contacts: 2 },
  });
  for (const phone_number of [14155550181, 14155550182])
    await seedRow(server.database, 'campaign_contacts', {
      workspace_id: workspaceId,
      campaign_id: campaign.id,
      phone_number,
    });
  await completed((await erase(number)).id);
  expect(await one(`select pending || ' of ' || total_contacts from campaigns where id = '${campaign.id}'`)).toBe(
    '1 of 1',
  );
  expect(await one(`select count(*) from campaign_contacts where campaign_id = '${campaign.id}'`)).toBe(1);
});

/** Once an erasure waits for this. */
const waits = (id: string, waitsFor: string) =>
  until(async () => {
    server.clock.advance(1000);
    return (await read(id)).waitsFor === waitsFor;
  });

test('a recording that can not be deleted holds up the erasure that it belongs to alone, which ends and says so', async () => {
  const numbers = ['+14155550191', '+14155550192'] as const;
  const ended = { status: 'completed', ended_at: new Date() } as const;
  const calls = [];
  for (const number of numbers)
    calls.push(
      await seedRow(server.database, 'calls', {
        ...{ workspace_id: workspaceId, to_number: Number(number.slice(1)), ...ended },
      }),
    );
  const room_id = calls[0]!.id;
  const file = path.join(server.dataDir, 'objects', recordingKey(room_id));
  await mkdir(file, { recursive: true });
  await insert('call_recordings', {
    ...{ workspace_id: workspaceId, room_id, status: 'stored', created_at: new Date(), stored_at: new Date() },
    size_bytes: 5,
  });
  await seedRow(server.database, 'concurrency_keys', {
    ...{
      workspace_id: workspaceId,
      key: numbers[0],
      last_ended_at: new Date(server.clock.now().getTime() - 8 * DAY_MS),
    },
  });
  const { id } = await erase(numbers[0]);
  await waits(id, 'recording');
  await completed((await erase(numbers[1])).id);
  const remaining = { recordings: 1, files: 0 };
  // Between two rounds it waits for nothing.
  await until(async () =>
    expect(await read(id)).toMatchObject({ status: 'running', remaining, waitsUntil: expect.any(String) }),
  );
  expect(await whereIs(server, numbers[0].slice(1))).toEqual(['erasures.phone_number']);
  server.clock.advance(7 * DAY_MS);
  await until(async () => (await read(id)).status === 'failed');
  const given = await read(id);
  expect(given).toMatchObject({ remaining, failure: { code: 'files_left' }, erased: { calls: 1 } });
  expect(given).not.toHaveProperty('waitsFor');
  await rmdir(file);
  await until(async () => (await one(`select erased_at from call_recordings where room_id = '${room_id}'`)) !== null);
});

test('a contact file that can not be deleted keeps no other from it, and is tried again', async () => {
  const number = '+14155550197';
  const file = `phone,name\n${number},Ada\n${OTHER},Bob\n`;
  const lists = [await importFile(server, file), await importFile(server, file)];
  const keys = await server.database.inEngine(({ db }) =>
    db
      .selectFrom('contact_list_uploads')
      .select('storage_key')
      .where(
        'list_id',
        'in',
        lists.map((list) => fromId(list.id)),
      )
      .orderBy('id')
      .execute(),
  );
  const [kept, gone] = keys.map(({ storage_key }) => path.join(server.dataDir, 'objects', storage_key));
  await rm(kept!);
  await mkdir(kept!);
  // An export that was made ready by a server whose clock is ahead.
  const later = new Date(server.clock.now().getTime() + DAY_MS / 2);
  const exported = { storage_key: 'exports/ahead.csv', ready_at: later, expires_at: later };
  const exportId = newUuid();
  await insert('exports', {
    ...{ workspace_id: workspaceId, id: exportId, type: 'calls', filter: {}, status: 'ready', ...exported },
    ...{ row_count: 1, size_bytes: 1, created_at: server.clock.now() },
  });
  const exportFile = path.join(server.dataDir, 'objects', exported.storage_key);
  await mkdir(exportFile, { recursive: true });
  // An upload whose file the store can't look for.
  const { data: pending } = await server.client.POST('/v1/calls/contact-lists', { body: { name: 'Pending' } });
  const uploadId = fromId(pending!.uploadDetails.id);
  const setKey = (key: string) =>
    server.database.inEngine(({ db }) =>
      sql`update contact_list_uploads set storage_key = ${key} where id = ${uploadId}`.execute(db),
    );
  await setKey(`uploads/${'x'.repeat(300)}`);
  const { id } = await erase(number);
  await waits(id, 'file');
  expect(await read(id)).toMatchObject({ remaining: { recordings: 0, files: 3 } });
  await setKey('uploads/missing.csv');
  expect(existsSync(gone!)).toBe(false);
  await rmdir(kept!);
  await until(async () => {
    server.clock.advance(1000);
    return Number(await one(`select remaining ->> 'files' from erasures where id = '${fromId(id)}'`)) < 2;
  });
  expect(await read(id)).toMatchObject({ status: 'running', remaining: { files: 1 } });
  await rmdir(exportFile);
  expect(await completed(id)).not.toHaveProperty('remaining');
  expect(await one(`select status from exports where id = '${exportId}'`)).toBe('expired');
});

/** How far an erasure is that has come to a step. */
const cameTo = (step: string) => ({ step, passed: stepNames.slice(0, stepNames.indexOf(step)) });

/** An erasure that has come to a table. */
async function erasureAt(table: string, phone_number: number): Promise<string> {
  const id = newUuid();
  await insert('erasures', {
    ...{ workspace_id: workspaceId, id, status: 'running', phone_number, ...cameTo(table), counts: {} },
    ...{ due_at: new Date(), created_at: new Date() },
  });
  return toId('ers', id);
}

test('a delivery that is being made while its number is erased loses it too', async () => {
  const { id: webhook_id } = await seedRow(server.database, 'webhooks', {
    ...{ workspace_id: workspaceId, status: 'disabled', event_types: [] },
  } as never);
  const payload = JSON.stringify({ type: 'call.ended', data: { toNumber: '+14155550193' } });
  const handingOver = async ({ db }: EngineTx) => {
    await sql`select from webhooks where id = ${webhook_id} for share`.execute(db);
    await insertRows(db, 'webhook_deliveries', [
      { workspace_id: workspaceId, webhook_id, status: 'delivered', payload },
    ]);
  };
  await meanwhile(server.database, handingOver, async () =>
    completed(await erasureAt('webhook_deliveries', 14155550193)),
  );
  expect(await one(`select payload from webhook_deliveries where webhook_id = '${webhook_id}'`)).toContain(
    '+9990000000',
  );
});

test('a delivery that is sent again while its number is erased loses it in both', async () => {
  const { id: webhook_id } = await seedRow(server.database, 'webhooks', {
    ...{ workspace_id: workspaceId, status: 'disabled', event_types: [] },
  } as never);
  const payload = JSON.stringify({ type: 'call.ended', data: { toNumber: '+14155550194' } });
  const delivery = { workspace_id: workspaceId, webhook_id, status: 'delivered', payload } as const;
  const original = await seedRow(server.database, 'webhook_deliveries', delivery);
  const params = { path: { webhookId: toId('whk', webhook_id), deliveryId: toId('dlv', original.id) } };
  const replay = () => server.client.POST('/v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay', { params });
  // A change of the endpoint that is not committed yet: who makes a delivery for it waits for that.
  const changing = ({ db }: EngineTx) =>
    sql`select from webhooks where id = ${webhook_id} for no key update`.execute(db);
  expect((await meanwhile(server.database, changing, replay)).response.status).toBe(202);
  await completed(await erasureAt('webhook_deliveries', 14155550194));
  const left = `select count(*) from webhook_deliveries where webhook_id = '${webhook_id}' and payload like '%9990000000%'`;
  expect(await one(left)).toBe(2);
});

test('another server goes on where one has died', async () => {
  const number = '+14155550183';
  const ended = { status: 'completed', ended_at: new Date() } as const;
  const call = { workspace_id: workspaceId, to_number: Number(number.slice(1)), ...ended };
  const { id: callId } = await seedRow(server.database, 'calls', call);
  // As a server leaves it that dies after the step before the calls: nobody holds it.
  const id = newUuid();
  await insert('erasures', {
    ...{ workspace_id: workspaceId, id, status: 'running', phone_number: call.to_number, ...cameTo('calls') },
    ...{ counts: { runs: 4 } },
    ...{ due_at: new Date(), created_at: new Date() },
  });
  expect(await completed(toId('ers', id))).toMatchObject({ erased: { calls: 1, runs: 4 } });
  expect(await one(`select to_number from calls where id = '${callId}'`)).toBe(9990000000);
});

test('an erasure that fails again and again keeps no other from going on', async () => {
  const id = newUuid();
  const before = new Date(Date.now() - DAY_MS);
  await insert('erasures', {
    ...{ workspace_id: workspaceId, id, status: 'running', phone_number: 14155550187, ...cameTo('calls') },
    ...{ place: ['no row'], counts: {} },
    ...{ due_at: before, created_at: before },
  });
  await completed((await erase('+14155550188')).id);
  expect(await read(toId('ers', id))).toMatchObject({ status: 'running', waitsFor: 'retry' });
  // As it is where no server ran for long: it is tried once more.
  await server.database.inEngine(({ db }) =>
    sql`
      update erasures set failing_since = ${before}::timestamptz - interval '7 days', due_at = ${before}
      where id = ${id}`.execute(db),
  );
  await until(async () => ((await one(`select due_at from erasures where id = '${id}'`)) as Date) > server.clock.now());
  expect(await read(toId('ers', id))).toMatchObject({ status: 'running', waitsFor: 'retry' });
  server.clock.advance(3_600_000);
  await until(async () => {
    server.clock.advance(1000);
    return (await read(toId('ers', id))).status === 'failed';
  });
  expect((await read(toId('ers', id))).failure!.code).toBe('internal_error');
});

test('a key makes one erasure, however often it is sent', async () => {
  const send = (phoneNumber: string) =>
    server.client.POST('/v1/erasures', { body: { phoneNumber }, params: { header: { 'Idempotency-Key': 'ada' } } });
  const first = await send('+14155550184');
  const again = await send('+14155550184');
  expect(again.data!.id).toBe(first.data!.id);
  expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
  expect((await send('+14155550185')).error!.code).toBe('idempotency_key_reused');
});

test('every column that holds text or large numbers is looked through, or is known to hold no person', async () => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns c
      where table_schema = 'public' and (data_type in ('text', 'json', 'jsonb', 'bigint', 'numeric') or udt_name in ('_text', '_int8'))
        and exists (select from information_schema.columns w where w.table_schema = 'public'
          and w.table_name = c.table_name and w.column_name = 'workspace_id')`.execute(db),
  );
  const looked = new Set(
    stores.flatMap(({ table, columns, numbers = [] }) =>
      [...Object.keys(columns), ...numbers].map((column) => `${table}.${column}`),
    ),
  );
  expect(
    rows
      .map(({ name }) => name)
      .filter((name) => !looked.has(name) && !isOfNobody(name))
      .toSorted(),
  ).toEqual([]);
});

/** What clients have set up, words of the server, and IDs. Keys wait, and are looked through then. */
const OF_NOBODY = [
  ...['agents', 'agent_limits', 'trunks', 'webhooks', 'phone_numbers', 'number_pools', 'api_keys', 'workflows'],
  // Those who work with it.
  ...['sessions', 'members'],
  ...['workflow_versions', 'knowledge_bases', 'knowledge_base_documents', 'knowledge_base_passages', 'campaign_lanes'],
  ...['campaign_lists', 'trunk_registrations', 'erasures', 'idempotency_keys', 'concurrency_keys', 'call_recordings'],
  ...['number_usage', 'contact_list_entries_all', 'sounds', 'speech_sounds', 'event_feeds', 'feed_places'],
  // Digits are kept only as long as they wait.
  ...['provider_accounts', 'call_dtmf'],
];
const WORDS =
  /\.(status|outcome|answered_by|message_left|direction|agent_id|ended_by|codec|reason|timezone|callee_time_zone|key|node_id|type|state|last_outcome|kind|owner_kind|storage_key|failure_code|failure_reason|error_report_key|default_country|event_type|role|workflow_name|next_node_id|pause_reason|calling_windows|call_back_terms|holidays|action|resource_type|address|standing|schedule_days|retry_policy)$/;
/** What is counted, and the workspace's own numbers. */
const NUMBERS =
  /\.(revision|edition|order_number|size_bytes|duration_ms|bytes_read|bytes_total|packets_received|packets_lost|packets_undeciphered|encrypted_with|watermark|usage|talk_ms)$|^(call_intents|test_calls)\.from_number$/;
const isOfNobody = (name: string) => OF_NOBODY.includes(name.split('.')[0]!) || WORDS.test(name) || NUMBERS.test(name);
