import { existsSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordingKey } from '../../src/dialing/calls/recordings/recording.ts';
import { deleteOldCalls } from '../../src/dialing/calls/retention.ts';
import { forgetOldConcurrencyKeys } from '../../src/dialing/workflows/runs/retention.ts';
import type { Schema } from '../../src/foundation/database/schema.ts';
import { openDiskObjectStore } from '../../src/foundation/objects/disk.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';
import { forgetSimulatedCalls } from '../../src/lines/telephony/simulator-retention.ts';
import { readBy } from '../dialing/claim-cost.ts';
import { insertRows, seedRow, seedRows } from '../seed/rows.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';

const DAY_MS = 24 * 3600 * 1000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

let server: TestServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer();
  workspaceId = await seedWorkspace(server.database);
});
afterAll(() => server.stop());

/** The UUIDs in a column of what is kept in a table. */
async function kept(table: keyof Schema, column: string): Promise<string[]> {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ value: string }>`select ${sql.ref(column)} as value from ${sql.table(table)} order by 1`.execute(db),
  );
  return rows.map(({ value }) => value);
}

const inserted = (act: (db: Kysely<Schema>) => Promise<unknown>) => server.database.inEngine(({ db }) => act(db));

/** A call that ended so many days ago, with all that is kept beside it. */
async function callOf(days: number): Promise<string> {
  const at = daysAgo(days);
  const call = { workspace_id: workspaceId, to_number: 14155550142, queued_at: at, ended_at: at };
  const { id } = await seedRow(server.database, 'calls', { ...call, status: 'completed', outcome: 'answered' });
  await seedRow(server.database, 'test_calls', { workspace_id: workspaceId, room_id: id, requested_at: at });
  await inserted(async (db) => {
    await sql`
      insert into call_transcripts (workspace_id, room_id, turns) values (${workspaceId}, ${id}, '[]')`.execute(db);
    await sql`
      insert into sip_calls (room_id, workspace_id, server_id, begun_at, ended_at)
      values (${id}, ${workspaceId}, ${newUuid()}, ${at}, ${at})`.execute(db);
    await sql`
      insert into simulator_calls (room_id, to_number, attempt, placed_at, ring_timeout_seconds, max_call_seconds, ended_at)
      values (${id}, '+14155550142', 1, ${at}, 30, 60, ${at})`.execute(db);
  });
  return id;
}

/** Has the call's recording kept, in the store of a server. */
async function record(roomId: string, at: Date): Promise<string> {
  const directory = path.join(server.dataDir, 'objects');
  const { clock } = server;
  const log = pino({ level: 'silent' });
  const objects = await openDiskObjectStore({ directory, secrets: [''], baseUrl: () => '', clock, log });
  await objects.put(recordingKey(roomId), Readable.from([Buffer.from('sound')]), 100);
  await inserted((db) =>
    sql`
      insert into call_recordings (workspace_id, room_id, status, size_bytes, created_at, stored_at)
      values (${workspaceId}, ${roomId}, 'stored', 5, ${at}, ${at})`.execute(db),
  );
  return path.join(directory, recordingKey(roomId));
}

async function runOf(days: number): Promise<string> {
  const at = daysAgo(days);
  const run = { workspace_id: workspaceId, status: 'completed', created_at: at, ended_at: at } as const;
  const { id } = await seedRow(server.database, 'workflow_runs', run);
  await seedRow(server.database, 'workflow_run_steps', { workspace_id: workspaceId, run_id: id, step: 1 });
  return id;
}

async function auditEntryOf(days: number): Promise<string> {
  const id = newUuid();
  await inserted((db) =>
    sql`
      insert into audit_log (workspace_id, id, key_id, action, resource_type, resource_id, address, request_id, created_at)
      values (${workspaceId}, ${id}, ${newUuid()}, 'list.deleted', 'list', 'list_1', '::1', 'r', ${daysAgo(days)})`.execute(
      db,
    ),
  );
  return id;
}

test('each kind is kept for as long as its setting says, and for ever without one', async () => {
  const [fresh, old, ancient] = [await callOf(1), await callOf(20), await callOf(9000)];
  const sounds = [
    await record(fresh, daysAgo(1)),
    await record(old, daysAgo(20)),
    await record(ancient, daysAgo(9000)),
  ];
  const runs = [await runOf(1), await runOf(20)];
  const entries = [await auditEntryOf(1), await auditEntryOf(20)];
  const waiting = await seedRow(server.database, 'workflow_runs', {
    workspace_id: workspaceId,
    status: 'waiting_schedule',
    created_at: daysAgo(50),
    due_at: new Date(Date.now() + 5 * DAY_MS),
  });

  // Of the first server's own settings only the simulator's has a number of days.
  await until(async () => (await kept('simulator_calls', 'room_id')).length === 3);
  const again = await startTestServer({ ...sharing(), config: { dataDir: server.dataDir } });
  await until(async () => (await kept('simulator_calls', 'room_id')).join() === fresh);
  await again.stop();
  expect(await kept('calls', 'id')).toEqual([fresh, old, ancient].toSorted());
  expect(sounds.map(existsSync)).toEqual([true, true, true]);

  const strict = { callRetentionDays: 30, runRetentionDays: 10, auditRetentionDays: 10, recordingRetentionDays: 10 };
  const third = await startTestServer({ ...sharing(), config: { dataDir: server.dataDir, ...strict } });
  await until(async () => !sounds.slice(1).some(existsSync));
  await until(
    async () => (await kept('workflow_runs', 'id')).length === 2 && (await kept('audit_log', 'id')).length === 1,
  );
  expect(await kept('workflow_runs', 'id')).toEqual([runs[0], waiting.id].toSorted());
  expect(await kept('workflow_run_steps', 'run_id')).toEqual([runs[0]]);
  expect(await kept('audit_log', 'id')).toEqual([entries[0]]);
  expect(existsSync(sounds[0]!)).toBe(true);
  // A call goes after the file of its recording has gone.
  await until(async () => {
    await deleteOldCalls(server.database, daysAgo(30));
    return !(await kept('calls', 'id')).includes(ancient);
  });
  await third.stop();
  for (const [table, column] of CALL_TABLES)
    expect([table, await kept(table, column)]).toEqual([table, [fresh, old].toSorted()]);
});

const CALL_TABLES = [
  ['calls', 'id'],
  ['call_recordings', 'room_id'],
  ['call_transcripts', 'room_id'],
  ['test_calls', 'room_id'],
  ['sip_calls', 'room_id'],
] as const;

const sharing = () => ({ connectionString: server.connectionString, apiKey: server.apiKey });

test('a server forgets calls by its setting', async () => {
  const id = await callOf(40);
  const other = await startTestServer({ ...sharing(), config: { callRetentionDays: 30 } });
  await until(async () => !(await kept('calls', 'id')).includes(id));
  await other.stop();
});

test('the simulated provider forgets a call with its call', async () => {
  const [old, fresh] = [await callOf(3), await callOf(1)];
  await deleteOldCalls(server.database, daysAgo(2));
  const rooms = await kept('simulator_calls', 'room_id');
  expect([rooms.includes(old), rooms.includes(fresh)]).toEqual([false, true]);
});

test('a simulated call that is still looked up is not forgotten', async () => {
  const id = await callOf(10);
  await inserted((db) => sql`update calls set ended_at = null, status = 'dialing' where id = ${id}`.execute(db));
  await forgetSimulatedCalls(server.database, daysAgo(7));
  expect(await kept('simulator_calls', 'room_id')).toContain(id);
  await inserted((db) => sql`update calls set ended_at = queued_at, status = 'completed' where id = ${id}`.execute(db));
  await forgetSimulatedCalls(server.database, daysAgo(7));
  expect(await kept('simulator_calls', 'room_id')).not.toContain(id);
});

test('a concurrency key is forgotten seven days after its last run, when no cooldown can ask for it any more', async () => {
  const now = new Date();
  const keys = { workspace_id: workspaceId, cooldown_minutes: 1 };
  await seedRows(server.database, 'concurrency_keys', [
    { ...keys, key: 'of a run that is active', active_run: newUuid(), last_ended_at: daysAgo(400) },
    { ...keys, key: 'of yesterday', last_ended_at: daysAgo(1) },
    { ...keys, key: 'still in the longest cooldown', last_ended_at: new Date(now.getTime() - 7 * DAY_MS + 60_000) },
    { ...keys, key: 'over', last_ended_at: new Date(now.getTime() - 7 * DAY_MS - 60_000) },
  ]);
  await forgetOldConcurrencyKeys(server.database, now);
  expect(await kept('concurrency_keys', 'key')).toEqual([
    'of a run that is active',
    'of yesterday',
    'still in the longest cooldown',
  ]);
});

test('more rows than one statement may delete go, in several', async () => {
  const at = daysAgo(30);
  await server.database.inEngine(({ db }) =>
    insertRows(
      db,
      'concurrency_keys',
      Array.from({ length: 5200 }, (_, i) => ({
        workspace_id: workspaceId,
        key: `many-${i}`,
        cooldown_minutes: 0,
        last_ended_at: daysAgo(1),
      })),
    ),
  );
  // To look at those that stay costs a small part of a page each.
  const { pages } = await readBy(server.database, (database) => forgetOldConcurrencyKeys(database, new Date()));
  expect(pages).toBeLessThan(520);
  await inserted((db) =>
    sql`
      insert into simulator_calls (room_id, to_number, attempt, placed_at, ring_timeout_seconds, max_call_seconds)
      select gen_random_uuid(), '+14155550142', 1, ${at}, 30, 60 from generate_series(1, 5200)`.execute(db),
  );
  await forgetOldConcurrencyKeys(server.database, new Date(Date.now() + 7 * DAY_MS));
  await forgetSimulatedCalls(server.database, daysAgo(7));
  expect((await kept('concurrency_keys', 'key')).filter((key) => key.startsWith('many'))).toEqual([]);
  expect((await kept('simulator_calls', 'room_id')).length).toBeLessThan(10);
});
