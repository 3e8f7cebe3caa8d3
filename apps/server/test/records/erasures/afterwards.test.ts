import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { numberKey } from '../../../src/foundation/database/number-digest.ts';
import { numberKeyFault } from '../../../src/foundation/database/number-key-fault.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { numbersNotCalled } from '../../../src/platform/do-not-call/do-not-call-numbers.ts';
import { stepNames } from '../../../src/records/erasures/steps.ts';
import { confirm, importFile } from '../../audience/contact-lists/contact-files.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { whereIs } from './where-is.ts';

const log = pino({ level: 'silent' });

let server: TestServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer();
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ id: string }>`select id from workspaces`.execute(db),
  );
  workspaceId = rows[0]!.id;
});
afterAll(() => server.stop());

async function completed(erasureId: string) {
  const params = { path: { erasureId } };
  await until(async () => {
    server.clock.advance(1000);
    return (await server.client.GET('/v1/erasures/{erasureId}', { params })).data!.status === 'completed';
  });
}

/** What kinds of locks transactions wait for. */
const lockWaits = async () => {
  const { rows } = await server.database.pool.query<{ wait_event: string }>(
    "select wait_event from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows.map((row) => row.wait_event);
};

async function erase(phoneNumber: string): Promise<void> {
  const { data } = await server.client.POST('/v1/erasures', { body: { phoneNumber } });
  await completed(data!.id);
}

test('what an agent sends after the erasure is not kept, and an opt-out asks for the number', async () => {
  const ended = { status: 'completed', ended_at: new Date() } as const;
  const call = await seedRow(server.database, 'calls', {
    ...{ workspace_id: workspaceId, to_number: 14155550180, ...ended },
  });
  await erase('+14155550180');
  const params = { path: { roomId: toId('room', call.id) } };
  const record = (body: components['schemas']['RecordCallResult']) =>
    server.client.POST('/v1/calls/{roomId}/result', { params, body });
  const { data } = await record({
    converted: true,
    summary: 'Ada is ill.',
    transcript: [{ at: new Date().toISOString(), role: 'person', text: 'Hi' }],
  });
  expect(data).toMatchObject({ toNumber: '+9990000000', result: { converted: true } });
  expect(JSON.stringify(data)).not.toMatch(/Ada|Hi/);
  const refused = await record({ optOut: true });
  expect([refused.response.status, refused.error!.code]).toEqual([409, 'invalid_state']);
});

test('a person who opts out while an erasure waits is erased once more', async () => {
  const number = 14155550181;
  const id = newUuid();
  await seedRow(server.database, 'do_not_call', { workspace_id: workspaceId, phone_number: number });
  const passed = stepNames.slice(0, 3);
  const begun = {
    status: 'running',
    step: stepNames[3],
    passed,
    counts: {},
    due_at: new Date(),
    created_at: new Date(),
  };
  await server.database.inEngine(({ db }) =>
    db
      .insertInto('erasures')
      .values({ workspace_id: workspaceId, id, phone_number: number, ...begun } as never)
      .execute(),
  );
  await completed(toId('ers', id));
  const { rows } = await server.database.inEngine(({ db }) =>
    sql`select from do_not_call where phone_number = ${number}`.execute(db),
  );
  expect(rows).toEqual([]);
  const notCalled = await server.database.inWorkspace(workspaceId, (tx) => numbersNotCalled(tx, [number]));
  expect([...notCalled]).toEqual([number]);
});

const GATE = 7782;
/** Has an addition of this person to a campaign wait for as long as somebody holds an advisory lock. */
const gateFor = (number: string) => `
  create function wait_at_gate() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end $$;
  create trigger gate before insert on campaign_contacts for each row
    when (new.phone_number = ${number.slice(1)}) execute function wait_at_gate();
  select pg_advisory_lock(${GATE}), set_config('trunkline.engine', 'on', false)`;

test('whom an import and a campaign are just taking up is erased from both, and the import counts without them', async () => {
  const number = '+14155550182';
  const file = `phone_number,name\n${number},Ada\n+14155550183,Bob\n`;
  const { client, database } = server;
  const list = await importFile(server, file);
  await seedNumber(database, workspaceId, '+12125550187');
  const lists = [{ id: list.id, role: 'contacts' as const }];
  const wanted = { name: `Spring ${number}`, agentId: 'anna', fromNumber: '+12125550187', lists };
  const campaign = { path: { id: (await client.POST('/v1/calls/campaigns', { body: wanted })).data!.data.id } };
  const { data: empty } = await client.POST('/v1/calls/contact-lists', {
    body: { name: 'Autumn', fileName: 'autumn.csv' },
  });
  const reading = { id: empty!.id, uploadID: empty!.uploadDetails.id };
  const other = new pg.Client(database.connection);
  await other.connect();
  try {
    await other.query(gateFor(number));
    await client.POST('/v1/calls/campaigns/{id}/start', { params: campaign });
    await client.POST('/v1/calls/campaigns/{id}/pause', { params: campaign });
    await other.query('begin');
    await other.query('select from contact_lists where id = $1 for update', [fromId(empty!.id)]);
    await fetch(empty!.uploadUrl, { method: 'PUT', headers: empty!.uploadHeaders, body: file });
    const upload = () => client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}', { params: { path: reading } });
    await until(async () => (await upload()).data!.status === 'validating');
    const { data } = await client.POST('/v1/erasures', { body: { phoneNumber: number } });
    await until(async () => (await lockWaits()).includes('advisory'));
    await other.query(`select pg_advisory_unlock(${GATE})`);
    const params = { path: { erasureId: data!.id } };
    await until(async () => {
      server.clock.advance(1000);
      return (await client.GET('/v1/erasures/{erasureId}', { params })).data!.waitsFor === 'upload';
    });
    const { data: read } = await client.GET('/v1/calls/campaigns/{id}/contacts', { params: campaign });
    expect(read!.data.items.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550183']);
    // All else is done meanwhile.
    const { data: named } = await client.GET('/v1/calls/campaigns/{id}', { params: campaign });
    expect(named!.data.name).toBe('Spring +9990000000');
    await other.query('commit');
    await completed(data!.id);
    expect((await upload()).data!.metadata).toMatchObject({ validRows: 1 });
    expect((await confirm(server, reading)).data!.totalEntries).toBe(1);
    expect(await whereIs(server, number.slice(1))).toEqual([]);
    // An import holds a list for as long as it takes.
    await other.query('begin');
    await other.query('select from contact_lists where id = $1 for update', [fromId(list.id)]);
    const { data: held } = await client.POST('/v1/erasures', { body: { phoneNumber: '+14155550183' } });
    await until(async () => {
      const found = await client.GET('/v1/erasures/{erasureId}', { params: { path: { erasureId: held!.id } } });
      return found.data!.waitsFor === 'upload';
    });
    await other.query('commit');
    await completed(held!.id);
  } finally {
    await other.end();
  }
});

test('where erased numbers can not be told from others nobody is called, and a server says so', async () => {
  const other = 14155550189;
  for (const [key, fault] of [
    [undefined, /loses its settings/],
    [numberKey(Buffer.alloc(32, 1)), /ENCRYPTION_KEY is not the one/],
  ] as const) {
    const { connection } = server.database;
    const database = openDatabase({ connection, poolSize: 1, log, ...(key && { numberKey: key }) });
    expect(await database.inEngine(numberKeyFault)).toMatch(fault);
    const notCalled = await database.inWorkspace(workspaceId, (tx) => numbersNotCalled(tx, [other]));
    expect([...notCalled]).toEqual(key ? [] : [other]);
    await database.close();
  }
  expect(await server.database.inEngine(numberKeyFault)).toBeUndefined();
});

test('a key exports of a person what it may read elsewhere, and no number of your own', async () => {
  const own = '+12125550188';
  await seedNumber(server.database, workspaceId, own);
  const exportOf = (phoneNumber: string, client = server.client) =>
    client.POST('/v1/exports', { body: { type: 'person', filter: { phoneNumber } } });
  const few = server.clientOf(await keyWith(server, { permissions: ['calls:read', 'erasures:read'] }));
  const { response, error } = await exportOf('+14155550180', few);
  expect([response.status, error!.code]).toEqual([403, 'forbidden']);
  const refused = await exportOf(own);
  expect([refused.response.status, refused.error!.details![0]!.path]).toEqual([400, '/body/filter/phoneNumber']);
});
