import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import * as initial from '../../../migrations/0065-initial.ts';
import { ConfigError } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { migrate, migrations } from '../../../src/foundation/database/migrate.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { trunkOf } from '../../../src/lines/trunks/trunk.ts';
import { stepNames } from '../../../src/records/erasures/steps.ts';
import { blankDatabase } from '../../database.ts';
import { laterVersion, ownVersion } from '../../other-release.ts';
import { statementOn } from './statement-on.ts';

let blank: Awaited<ReturnType<typeof blankDatabase>>;
let opened: Database[] = [];
const log = pino({ level: 'silent' });

beforeEach(async () => {
  blank = await blankDatabase();
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const database of opened) await database.close();
  opened = [];
  await blank.drop();
});

function open(connection = blank.connection): Database {
  const database = openDatabase({ connection, poolSize: 2, log });
  opened.push(database);
  return database;
}

const on = async (statement: string) => (await statementOn(blank.connection, statement)).rows;
const applied = async () =>
  (await on('select name from schema_migrations order by name')).map((row) => (row as { name: string }).name);

/** Makes a database look as the migrations of before 0.2.0 have left it, up to the named one. */
async function markAsOfBefore(newest: string): Promise<void> {
  await open().inEngine((tx) => initial.up(tx.db as unknown as Kysely<unknown>));
  await on('create table kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)');
  await on('create table kysely_migration_lock (id varchar(255) primary key, is_locked integer not null default 0)');
  await on(`insert into kysely_migration select unnest('{0001-initial,${newest}}'::text[]), '2026-11-24'`);
}

test('servers that start at once bring an empty database to the newest state, once', async () => {
  await Promise.all([open(), open(), open()].map((database) => migrate(database, log)));
  expect(await applied()).toEqual(Object.keys(migrations));
  await migrate(open(), log);
});

test('a database whose tables were made one by one goes on, with its rows and with passwords that can still be read', async () => {
  const secrets = createSecrets(Buffer.alloc(32, 7));
  const [workspace, trunk, number] = [newUuid(), newUuid(), newUuid()];
  await markAsOfBefore('0063-required-consent');
  await on(`
    begin; select set_config('trunkline.engine', 'on', true);
    insert into workspaces (id, name, created_at, updated_at) values ('${workspace}', 'Test', 'epoch', 'epoch');
    insert into trunks (workspace_id, id, termination_url, transport, username, password, password_of, status_since,
      created_at, updated_at) values ('${workspace}', '${trunk}', 'sip:a.example.com', 'tls', 'u',
      '${secrets.encrypt('secret', `phone_numbers.sip_password ${workspace} ${number}`)}', '${number}', 'epoch', 'epoch',
      'epoch');
    commit`);
  await Promise.all([open(), open(), open()].map((database) => migrate(database, log)));
  expect(await applied()).toEqual(Object.keys(migrations));
  expect(await on("select from pg_class where relname like 'kysely%'")).toEqual([]);
  const rows = await open().inEngine((tx) => tx.db.selectFrom('trunks').selectAll().execute());
  expect(rows.map((row) => trunkOf(row, secrets).password)).toEqual(['secret']);
});

test('erasures that were under way by numbers of steps go on by their names', async () => {
  const workspace = newUuid();
  await markAsOfBefore('0063-required-consent');
  await on(`
    begin; select set_config('trunkline.engine', 'on', true);
    insert into workspaces (id, name, created_at, updated_at) values ('${workspace}', 'Test', 'epoch', 'epoch');
    insert into erasures (workspace_id, id, status, phone_number, step, due_at, created_at)
      select '${workspace}', gen_random_uuid(), 'running', 14155550100, step, 'epoch', 'epoch'
      from unnest('{0,21,23}'::int[]) as s (step);
    insert into erasures (workspace_id, id, status, step, due_at, created_at, completed_at)
      values ('${workspace}', gen_random_uuid(), 'completed', 23, 'epoch', 'epoch', 'epoch');
    commit`);
  await migrate(open(), log);
  const { rows } = await open().inEngine((tx) =>
    sql<{ step: string; passed: string[] }>`
      select step, passed from erasures order by status, cardinality(passed)`.execute(tx.db),
  );
  // Of what has come since nothing is passed.
  const ofBefore = stepNames.filter((name) => name !== 'rejected_rows' && name !== 'call_transfers');
  expect(rows).toEqual([
    { step: 'keys', passed: [] },
    { step: 'entries', passed: [] },
    { step: 'webhook_deliveries', passed: ofBefore.slice(0, 21) },
    { step: 'keys', passed: ofBefore.slice(0, 23) },
  ]);
});

test('a database of any other state of before is refused in a line that says how it can go on, and is left as it is', async () => {
  await markAsOfBefore('0060-default-quiet-hours');
  const error = await migrate(open(), log).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(error.message).toBe(
    'The database is at migration 0060-default-quiet-hours, older than 0.2.0 can read: start a checkout of the last ' +
      'commit that has apps/server/migrations/0063-required-consent.ts once, and then this version.',
  );
  expect(await on("select to_regclass('schema_migrations') as made")).toEqual([{ made: null }]);
});

test('a server and one of the next release start at once on a database of before, and both find tables that they can use', async () => {
  const later = { release: laterVersion(1), oldestServer: ownVersion, up: async () => {} };
  const newer = { ...migrations, '9001-later': later };
  await migrate(open(), log);
  await Promise.all(
    [open(), open(), open(), open()].map((each, at) => migrate(each, log, at % 2 ? newer : migrations)),
  );
  await migrate(open(), log);
  expect(await applied()).toEqual(Object.keys(newer));
});

test('what is begun and fails leaves nothing', async () => {
  await migrate(open(), log);
  const up = async (db: Kysely<unknown>) => {
    await sql`alter table servers add column half text`.execute(db);
    await sql`alter table nowhere add column half text`.execute(db);
  };
  const newer = { ...migrations, '9001-later': { release: laterVersion(1), oldestServer: ownVersion, up } };
  await expect(migrate(open(), log, newer)).rejects.toThrow('relation "nowhere" does not exist');
  expect(await applied()).toEqual(Object.keys(migrations));
  expect(await on("select from pg_attribute where attname = 'half'")).toEqual([]);
});

test('a role that row-level security binds is not warned about', async () => {
  const warn = vi.spyOn(log, 'warn');
  await migrate(open(), log);
  expect(warn).not.toHaveBeenCalled();
});

test.runIf(inject('testServer').embedded)('a superuser is warned about', async () => {
  const warn = vi.spyOn(log, 'warn');
  const url = new URL(blank.connection.connectionString);
  url.username = 'postgres';
  await migrate(open({ connectionString: url.href }), log);
  expect(warn.mock.calls.flat().join()).toContain('superuser');
});
