import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { migrate, migrations } from '../../src/database/migrate.ts';
import { blankDatabase } from '../database.ts';
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

test('servers that start at once bring an empty database to the newest state, once', async () => {
  await Promise.all([open(), open(), open()].map((database) => migrate(database, log)));
  const { rows } = await statementOn(blank.connection, 'select name from kysely_migration');
  expect(rows).toContainEqual({ name: '0001-initial' });
  await migrate(open(), log);
});

test('campaigns of before keep to the clock of the campaign, drafts are strictest, and their lanes stay', async () => {
  const pool = new pg.Pool(blank.connection);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    const { error } = await migrator.migrateTo('0024-calling-hours');
    expect(error).toBeUndefined();
    await sql
      .raw(`
      begin;
      select set_config('trunkline.engine', 'on', true);
      insert into workspaces (id, name, created_at, updated_at) values (gen_random_uuid(), 'Test', now(), now());
      insert into campaigns (workspace_id, id, name, agent_id, direction, status, timezone, schedule_days, max_concurrency,
          retry_policy, ring_timeout_seconds, max_call_seconds, created_at, updated_at)
        select w.id, gen_random_uuid(), s.status, 'agent', 'outbound', s.status, 'America/New_York', '{1}', 1, '{}', 30, 60,
          now(), now()
        from workspaces w, unnest('{draft,scheduled,running,paused,completed}'::text[]) as s (status);
      insert into campaign_lanes (workspace_id, campaign_id, lane, timezone, opens_at, closes_at)
        select c.workspace_id, c.id, z.lane, z.timezone, 'epoch', 'epoch'
        from campaigns c, (values (1, ''), (2, 'Europe/Berlin')) as z (lane, timezone) where c.status = 'running';
      commit`)
      .execute(db);
    await migrate(open(), log);
    const { rows } = await open().inEngine((tx) =>
      sql<{ status: string; rule: string; lanes: unknown }>`
        select status, callee_time_zone as rule, relaning_after, (select json_agg(json_build_array(timezones, is_own,
          has_common_hour) order by lane) from campaign_lanes where campaign_id = c.id) as lanes
        from campaigns c order by status`.execute(tx.db),
    );
    const kept = { rule: 'campaign', relaning_after: null, lanes: null };
    expect(rows).toEqual([
      { ...kept, status: 'completed' },
      { ...kept, status: 'draft', rule: 'strictest' },
      { ...kept, status: 'paused' },
      {
        ...kept,
        status: 'running',
        lanes: [
          [[], false, true],
          [['Europe/Berlin'], true, true],
        ],
      },
      { ...kept, status: 'scheduled' },
    ]);
  } finally {
    await db.destroy();
  }
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
