import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase, type WorkspaceTx } from '../../../src/foundation/database/database.ts';
import type { Schema } from '../../../src/foundation/database/schema.ts';
import { freshDatabase } from '../../database.ts';

const [a, b] = [randomUUID(), randomUUID()];
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

const insert = (tx: WorkspaceTx, id: string) => {
  const at = new Date();
  return tx.db.insertInto('workspaces').values({ id, name: 'x', created_at: at, updated_at: at }).execute();
};
const addUsage = (tx: WorkspaceTx, workspaceId: string, day: string) =>
  tx.db.insertInto('workspace_usage').values({ workspace_id: workspaceId, day }).execute();

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openDatabase({ connection: fresh.connection, poolSize: 1, log: pino({ level: 'silent' }) });
  for (const id of [a, b]) {
    await database.inWorkspace(id, async (tx) => {
      await insert(tx, id);
      await addUsage(tx, id, '2026-01-01');
    });
  }
});

afterAll(async () => {
  await database.close();
  await fresh.drop();
});

test('a workspace sees its own rows only, and the engine sees all', async () => {
  const seen = await database.inWorkspace(a, (tx) => tx.db.selectFrom('workspaces').select('id').execute());
  expect(seen).toEqual([{ id: a }]);
  const usage = await database.inWorkspace(b, (tx) => tx.db.selectFrom('workspace_usage').selectAll().execute());
  expect(usage.map((row) => row.workspace_id)).toEqual([b]);
  const all = await database.inEngine((tx) => tx.db.selectFrom('workspace_usage').select('workspace_id').execute());
  expect(all.map((row) => row.workspace_id).sort()).toEqual([a, b].sort());
});

test('a workspace can neither write into another nor change or delete there', async () => {
  const refused = { code: '42501' };
  await expect(database.inWorkspace(a, (tx) => addUsage(tx, b, '2026-01-02'))).rejects.toMatchObject(refused);
  const moved = database.inWorkspace(a, (tx) =>
    tx.db.updateTable('workspace_usage').set({ workspace_id: b }).execute(),
  );
  await expect(moved).rejects.toMatchObject(refused);
  const changed = await database.inWorkspace(a, async (tx) => [
    await tx.db.updateTable('workspace_usage').set({ calls: 9 }).where('workspace_id', '=', b).executeTakeFirst(),
    await tx.db.deleteFrom('workspace_usage').where('workspace_id', '=', b).executeTakeFirst(),
  ]);
  expect(changed).toMatchObject([{ numUpdatedRows: 0n }, { numDeletedRows: 0n }]);
});

test('without a workspace nothing is seen, on a connection that had one before too', async () => {
  await database.inWorkspace(a, (tx) => sql`select 1`.execute(tx.db));
  expect((await database.pool.query('select * from workspaces')).rows).toEqual([]);
  await database.inEngine((tx) => sql`select 1`.execute(tx.db));
  expect((await database.pool.query('select * from workspaces')).rows).toEqual([]);
});

test('a workspace sees nothing of what the simulated provider keeps', async () => {
  const roomId = randomUUID();
  const keep = ({ db }: { db: Kysely<Schema> }) =>
    sql`
      insert into simulator_calls (room_id, to_number, attempt, placed_at, ring_timeout_seconds, max_call_seconds)
      values (${roomId}, '14155550100', 1, ${new Date()}, 30, 60)`.execute(db);
  const read = ({ db }: { db: Kysely<Schema> }) => sql`select room_id from simulator_calls`.execute(db);
  await expect(database.inWorkspace(a, keep)).rejects.toMatchObject({ code: '42501' });
  await database.inEngine(keep);
  expect((await database.inWorkspace(a, read)).rows).toEqual([]);
  expect((await database.inEngine(read)).rows).toEqual([{ room_id: roomId }]);
});

test('every table is walled off, for its owner too', async () => {
  const { rows } = await database.pool.query(`
    select c.relname from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations'
      and not (c.relrowsecurity and c.relforcerowsecurity
        and exists (select from pg_policy where polrelid = c.oid))
    order by 1`);
  expect(rows).toEqual([
    // COPY refuses row-level security: only the import writes into this partition, all else goes through its parent.
    { relname: 'contact_list_entries_all' },
    // What the database is known by after a restore: one row, of no workspace.
    { relname: 'installation' },
    // The leases of processes.
    { relname: 'servers' },
    // How far each has come, also for after a restore.
    { relname: 'witness_slots' },
  ]);
});

test('every table and each of its keys begins with the workspace, but for those that docs/scale.md names', async () => {
  const { rows } = await database.pool.query(`
    select c.relname || ': ' || string_agg(a.attname, ', ' order by k.place) as key
    from pg_index i join pg_class c on c.oid = i.indrelid
    cross join lateral unnest(i.indkey::int[]) with ordinality as k (attnum, place)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
    where i.indisunique and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations'
      and i.indkey[0] <> coalesce((select attnum from pg_attribute
        where attrelid = c.oid and attname = 'workspace_id'), 0)
    group by c.relname, i.indexrelid order by 1`);
  expect(rows.map(({ key }) => key)).toEqual([
    'api_keys: hash',
    'contact_list_uploads: storage_key',
    'installation: singleton',
    'phone_numbers: phone_number',
    'servers: id',
    'sessions: hash',
    'simulator_calls: room_id',
    'simulator_numbers: idempotency_key',
    'simulator_numbers: phone_number',
    'sip_calls: room_id',
    'trunk_grant_addresses: ip',
    'witness_slots: slot',
    'workspaces: id',
  ]);
});
