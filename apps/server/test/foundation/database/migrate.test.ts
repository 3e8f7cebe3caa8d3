import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { migrate, migrations } from '../../../src/foundation/database/migrate.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { trunkOf } from '../../../src/lines/trunks/trunk.ts';
import { blankDatabase } from '../../database.ts';
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

/** Brings the database to an older state, with what a statement writes there. */
async function startFrom(migration: string, statement: string): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool(blank.connection) }) });
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo(migration);
  expect(error).toBeUndefined();
  await sql.raw(`begin; select set_config('trunkline.engine', 'on', true); ${statement}; commit`).execute(db);
  await db.destroy();
}

const campaignColumns = `workspace_id, id, name, agent_id, direction, status, timezone, schedule_days, max_concurrency,
  retry_policy, ring_timeout_seconds, max_call_seconds, created_at, updated_at`;
/** Of a workspace `w` and a status `s`. */
const campaignValues = `w.id, gen_random_uuid(), s.status, 'agent', 'outbound', s.status, 'America/New_York', '{1}', 1, '{}', 30,
  60, now(), now()`;
const insertWorkspace = `insert into workspaces (id, name, created_at, updated_at)
  values (gen_random_uuid(), 'Test', now(), now())`;

test('servers that start at once bring an empty database to the newest state, once', async () => {
  await Promise.all([open(), open(), open()].map((database) => migrate(database, log)));
  const { rows } = await statementOn(blank.connection, 'select name from kysely_migration');
  expect(rows).toContainEqual({ name: '0001-initial' });
  await migrate(open(), log);
});

test('campaigns of before keep to the clock of the campaign, drafts are strictest, and their lanes stay', async () => {
  await startFrom(
    '0024-calling-hours',
    `${insertWorkspace};
    insert into campaigns (${campaignColumns})
      select ${campaignValues} from workspaces w, unnest('{draft,scheduled,running,paused,completed}'::text[]) as s (status);
    insert into campaign_lanes (workspace_id, campaign_id, lane, timezone, opens_at, closes_at)
      select c.workspace_id, c.id, z.lane, z.timezone, 'epoch', 'epoch'
      from campaigns c, (values (1, ''), (2, 'Europe/Berlin')) as z (lane, timezone) where c.status = 'running'`,
  );
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
});

test('contacts of campaigns that call are moved to all zones of their numbers, those by one clock stay', async () => {
  await startFrom(
    '0056-do-not-call-revision',
    `${insertWorkspace};
    insert into campaigns (${campaignColumns}, callee_time_zone, contacts_added)
      select ${campaignValues}, r.rule, s.status in ('running', 'paused', 'completed')
      from workspaces w, unnest('{draft,scheduled,running,paused,completed}'::text[]) as s (status),
        unnest('{strictest,campaign}'::text[]) as r (rule)`,
  );
  await migrate(open(), log);
  const { rows } = await open().inEngine((tx) =>
    sql<{ status: string; rule: string }>`
      select status, callee_time_zone as rule, relaning_after as after, contacts_added as added
      from campaigns order by callee_time_zone, status`.execute(tx.db),
  );
  const none = '00000000-0000-0000-0000-000000000000';
  const shown = (rule: string) =>
    rows.filter((row) => row.rule === rule).map(({ rule: _, ...row }) => Object.values(row).join(' '));
  expect(shown('campaign')).toEqual([
    'completed  true',
    'draft  false',
    'paused  true',
    'running  true',
    'scheduled  false',
  ]);
  expect(shown('strictest')).toEqual([
    'completed  true',
    'draft  false',
    `paused ${none} false`,
    `running ${none} false`,
    'scheduled  false',
  ]);
});

test('workspaces of before keep the quiet hours that they have, or none', async () => {
  const pool = new pg.Pool(blank.connection);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    expect((await migrator.migrateTo('0059-notes-of-steps')).error).toBeUndefined();
    await sql
      .raw(`
      begin;
      select set_config('trunkline.engine', 'on', true);
      insert into workspaces (id, name, quiet_hours_start, quiet_hours_end, created_at, updated_at) values
        (gen_random_uuid(), 'Open', null, null, now(), now()), (gen_random_uuid(), 'Same', 1260, 480, now(), now());
      commit`)
      .execute(db);
    await migrate(open(), log);
    const { rows } = await open().inEngine((tx) =>
      sql`select name, quiet_hours_start as start, quiet_hours_end as end, quiet_hours_are_default as kept, trusted_numbers
        from workspaces order by name`.execute(tx.db),
    );
    expect(rows).toEqual([
      { name: 'Open', start: null, end: null, kept: false, trusted_numbers: [] },
      { name: 'Same', start: 1260, end: 480, kept: false, trusted_numbers: [] },
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

test('numbers of before share trunks, with a password that can still be read, and the oldest keeps a number', async () => {
  const pool = new pg.Pool(blank.connection);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const secrets = createSecrets(Buffer.alloc(32, 7));
  const [one, two] = [newUuid(), newUuid()];
  const ids = Array.from({ length: 6 }, () => newUuid());
  const sealed = (at: number, ws: string) =>
    secrets.encrypt(`secret ${at}`, `phone_numbers.sip_password ${ws} ${ids[at]}`);
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    expect((await migrator.migrateTo('0026-agents')).error).toBeUndefined();
    const number = (
      at: number,
      ws: string,
      rest: { number: string; url: string | null; valid: boolean; provider?: string },
    ) => `(
      '${ws}', '${ids[at]}', '${rest.number}', 'active', '${rest.provider ?? 'sip'}', ${rest.url ? `'${rest.url}'` : 'null'},
      ${rest.url ? `'u', '${sealed(at, ws)}', 'tls', '{203.0.113.${at}}'` : 'null, null, null, null'}, ${rest.valid},
      '${rest.valid ? 'ok' : 'unreachable'}', '2026-01-0${at + 1}', '2026-01-0${at + 1}')`;
    await sql
      .raw(`
      begin;
      select set_config('trunkline.engine', 'on', true);
      insert into workspaces (id, name, created_at, updated_at)
        select id, id::text, now(), now() from unnest('{${one},${two}}'::uuid[]) as w (id);
      insert into webhooks (workspace_id, id, url, event_types, status, secret, created_at, updated_at)
        values ('${two}', '${newUuid()}', 'https://a', '{phone_number.updated}', 'enabled', 'x', now(), now());
      insert into phone_numbers (workspace_id, id, phone_number, status, provider, sip_termination_url, sip_username,
        sip_password, sip_transport, sip_ip_allowlist, trunk_valid, trunk_detail, created_at, updated_at) values
        ${[
          number(0, one, { number: '+14155550100', url: 'sip:a.example.com', valid: false }),
          number(1, one, { number: '+14155550101', url: 'sip:A.example.com', valid: true }),
          number(2, one, { number: '+14155550102', url: 'sip:b.example.com', valid: false }),
          number(3, one, { number: '+14155550103', url: null, valid: false, provider: 'simulator' }),
          number(4, two, { number: '+14155550100', url: 'sip:a.example.com', valid: true }),
          number(5, two, { number: '+14155550105', url: null, valid: false }),
        ].join()};
      commit`)
      .execute(db);
    await migrate(open(), log);
    const database = open();
    const trunks = await database.inEngine((tx) =>
      tx.db.selectFrom('trunks').selectAll().orderBy('termination_url').orderBy('workspace_id').execute(),
    );
    const shown = trunks.map((row) => [row.workspace_id, row.status, row.reason, row.ip_allowlist.toSorted()]);
    expect(shown.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(
      [
        [one, 'active', null, ['203.0.113.0', '203.0.113.1']],
        [one, 'paused', 'unreachable', ['203.0.113.2']],
        [two, 'active', null, ['203.0.113.4']],
      ].toSorted((a, b) => String(a).localeCompare(String(b))),
    );
    // The password of the number whose trunk has passed, which no migration can read.
    expect(trunks.map((row) => trunkOf(row, secrets).password).toSorted()).toEqual([
      'secret 1',
      'secret 2',
      'secret 4',
    ]);
    const numbers = await database.inEngine((tx) =>
      tx.db.selectFrom('phone_numbers').select(['id', 'status', 'trunk_id']).execute(),
    );
    const of = (at: number) => numbers.find((row) => row.id === ids[at])!;
    expect(ids.map((_, at) => of(at).status)).toEqual(['active', 'active', 'active', 'active', 'suspended', 'active']);
    expect(of(0).trunk_id).toBe(of(1).trunk_id);
    expect([of(3).trunk_id, of(5).trunk_id]).toEqual([null, null]);
    const told = await database.inEngine((tx) =>
      tx.db
        .selectFrom('events')
        .select(['events.resource_id', 'data'])
        .innerJoin('events_to_hand_over as h', (join) =>
          join.onRef('h.resource_id', '=', 'events.resource_id').onRef('h.revision', '=', 'events.revision'),
        )
        .execute(),
    );
    expect(told).toMatchObject([{ resource_id: ids[4], data: { status: 'suspended', phoneNumber: '+14155550100' } }]);
  } finally {
    await db.destroy();
  }
});
