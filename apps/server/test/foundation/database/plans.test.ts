import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { unconfirmedUploads, waitingUploads } from '../../../src/audience/contact-lists/upload-store.ts';
import { readBrakes } from '../../../src/commands/operator/read-brakes.ts';
import { readDue } from '../../../src/commands/operator/read-queues.ts';
import { readLeases, readServers } from '../../../src/commands/operator/read-servers.ts';
import { waitingCalls } from '../../../src/dialing/call-intents/waiting-calls.ts';
import { calledNumber } from '../../../src/dialing/calls/receive-calls.ts';
import { callStore } from '../../../src/dialing/calls/store.ts';
import {
  campaignsInFlight,
  campaignsToFill,
  campaignsToStart,
  endDueCampaigns,
  recountInFlight,
} from '../../../src/dialing/campaigns/due-campaigns.ts';
import { campaignCallDetails } from '../../../src/dialing/campaigns/own-calls.ts';
import { recheckBlocked } from '../../../src/dialing/workflows/runs/unblock-runs.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { deleteOldIdempotencyKeys } from '../../../src/foundation/database/idempotency-keys.ts';
import type { PageQuery } from '../../../src/foundation/database/page.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { takeDueNumbers } from '../../../src/lines/phone-numbers/store.ts';
import { findKeys } from '../../../src/platform/api-keys/key-store.ts';
import { listDoNotCall } from '../../../src/platform/do-not-call/store.ts';
import { deleteOldEvents } from '../../../src/platform/journal/retention.ts';
import { eraseOldDeliveries } from '../../../src/platform/webhooks/retention.ts';
import { readFigures } from '../../../src/records/call-statistics/read-figures.ts';
import { callRows } from '../../../src/records/exports/call-rows.ts';
import type { CallFilter } from '../../../src/records/exports/export.ts';
import { dueErasures } from '../../../src/voices/knowledge-bases/erase-documents.ts';
import { freshDatabase } from '../../database.ts';
import { seedRow } from '../../seed/rows.ts';

const MANY = 40_000;
/** As many as show, in four tables, whether a chunk of 5,000 is read or all. */
const SEVERAL = 30_000;
const SOME = 20_000;
const DAY_MS = 24 * 3600 * 1000;
const now = new Date('2026-03-10T12:00:00Z');
const tomorrow = new Date('2026-03-11T12:00:00Z');

interface Asked {
  text: string;
  values: unknown[];
}

/** A database of one connection, whose plans' age is in the test's hand, and what it was asked by name. */
async function withOneConnection(
  run: (database: Database, asked: Map<string, Asked>, age: () => void, said: string[]) => Promise<void>,
): Promise<void> {
  const { connection, drop } = await freshDatabase();
  const database = openDatabase({ connection, poolSize: 1, log: pino({ level: 'silent' }) });
  const asked = new Map<string, Asked>();
  const said: string[] = [];
  database.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((config: pg.QueryConfig | string, values?: unknown[], ...more: unknown[]) => {
      if (typeof config === 'string') {
        said.push(config);
        return query(config, values, ...more);
      }
      if (config.name) asked.set(config.name, { text: config.text, values: values ?? [] });
      return query(config, values, ...more);
    }) as typeof client.query;
  });
  let elapsed = 0;
  const real = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + elapsed);
  try {
    const age = () => {
      elapsed += 11_000;
    };
    await run(database, asked, age, said);
  } finally {
    clock.mockRestore();
    await database.close();
    await drop();
  }
}

const element = (value: unknown) => {
  if (value instanceof Date) return `"${value.toISOString()}"`;
  return Buffer.isBuffer(value) ? `"\\\\x${value.toString('hex')}"` : String(value);
};

const literal = (value: unknown): string => {
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  return value === null
    ? 'null'
    : pg.escapeLiteral(Array.isArray(value) ? `{${value.map(element).join()}}` : String(value));
};

/** What a prepared statement reads as it is planned now: pages, and the most rows of a step. Nothing that it does is kept. */
async function costOf(database: Database, name: string, { text, values }: Asked) {
  let cost = { pages: 0, most: 0, plan: '' };
  const undone = new Error();
  // As it is run: the erasing of deliveries and the looks at blocked runs sort nothing.
  const isOperators = text.includes('pg_locks') || text.includes('events_to_hand_over');
  const isHot = text.startsWith('delete from webhook_deliveries') || (text.includes('workflow_runs') && !isOperators);
  const run = isHot ? database.inHotLoop : database.inEngine;
  const explained = run(async ({ db }) => {
    const execute = `execute ${name}${values.length > 0 ? `(${values.map(literal).join()})` : ''}`;
    const { rows } = await sql
      .raw<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(`explain (analyze, buffers, format json) ${execute}`)
      .execute(db);
    const { Plan } = rows[0]!['QUERY PLAN'][0];
    const plan = JSON.stringify(Plan, null, 1);
    const most = Math.max(...[...plan.matchAll(/"Actual Rows": ([\d.]+)/g)].map(([, count]) => Number(count)));
    cost = { pages: Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!, most, plan };
    throw undone;
  });
  await expect(explained).rejects.toBe(undone);
  return cost;
}

/** Fills the tables with what is over. No statistics are taken. */
async function grow(database: Database, workspaceId: string, campaignId: string, webhookId: string): Promise<void> {
  await database.inEngine(async ({ db }) => {
    const all = sql`generate_series(1, ${SEVERAL}::int) as i`;
    await sql`
      insert into calls (workspace_id, id, status, direction, simulated, from_number, to_number, phone_number_id,
        owner_kind, owner_id, campaign_id, attempt, start_at, place_before, ring_timeout_seconds, max_call_seconds, queued_at, ended_at)
      select ${workspaceId}, gen_random_uuid(), 'completed', 'outbound', true, 14150000000, 14150000000 + i,
        gen_random_uuid(), 'contact', gen_random_uuid(), ${campaignId}, 1, ${now}, ${now}, 1, 1, ${now}, case when i > 3 then ${now}::timestamptz end
      from ${all}`.execute(db);
    await sql`
      insert into events (workspace_id, resource_id, revision, id, type, data, created_at)
      select ${workspaceId}, gen_random_uuid(), 1, gen_random_uuid(), 'call.ended', '{}', ${now} from ${all}`.execute(
      db,
    );
    await sql`
      insert into campaigns (workspace_id, id, name, agent_id, direction, status, timezone, schedule_days,
        max_concurrency, retry_policy, ring_timeout_seconds, max_call_seconds, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), 'old', 'agent', 'outbound', 'completed', 'UTC', '{1}', 1, '{}', 1, 1,
        ${now}, ${now} from ${all}`.execute(db);
    await sql`
      insert into webhook_deliveries (workspace_id, webhook_id, id, event_id, event_type, order_key, order_number,
        payload, status, created_at)
      select ${workspaceId}, ${webhookId}, gen_random_uuid(), gen_random_uuid(), 'call.ended', gen_random_uuid(), 1,
        '{}', 'delivered', ${now} from ${all}`.execute(db);
  });
}

async function seed(database: Database) {
  const [workspaceId, campaignId, webhookId] = [randomUUID(), randomUUID(), randomUUID()];
  const tables = ['calls', 'events', 'campaigns', 'webhook_deliveries', 'webhooks', 'workspaces'];
  await database.inEngine(async ({ db }) => {
    for (const table of tables) await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(db);
    await sql`insert into workspaces (id, name, created_at, updated_at)
      values (${workspaceId}, 'One', ${now}, ${now})`.execute(db);
    await sql`
      insert into campaigns (workspace_id, id, name, agent_id, direction, status, timezone, schedule_days,
        max_concurrency, retry_policy, ring_timeout_seconds, max_call_seconds, in_flight, created_at, updated_at)
      values (${workspaceId}, ${campaignId}, 'live', 'agent', 'outbound', 'running', 'UTC', '{1}', 1, '{}', 1, 1, 0,
        ${now}, ${now})`.execute(db);
    await sql`
      insert into webhooks (workspace_id, id, url, event_types, status, secret, created_at, updated_at)
      values (${workspaceId}, ${webhookId}, 'https://example.com', '{}', 'enabled', 'secret', ${now}, ${now})`.execute(
      db,
    );
  });
  return { workspaceId, campaignId, webhookId };
}

test('the engine’s rare work reads little of tables that have grown since it was planned, without statistics', () =>
  withOneConnection(async (database, asked, age) => {
    const { workspaceId, campaignId, webhookId } = await seed(database);
    await seedRow(database, 'servers', { lease_until: tomorrow });
    const work = async () => {
      await database.inEngine((tx) => recountInFlight(tx, { workspaceId, campaignId }));
      await database.inEngine(campaignsInFlight);
      await database.inEngine(campaignsToFill);
      await database.inEngine((tx) => campaignsToStart(tx, now));
      await database.inEngine((tx) => endDueCampaigns(tx, now));
      await deleteOldEvents(database, now);
      await eraseOldDeliveries(database, now);
      await database.inEngine(readServers);
      await database.inEngine(readLeases);
      await database.inEngine((tx) => readDue(tx, now));
      await database.inEngine((tx) => readBrakes(tx, now, 1000));
    };
    for (let round = 0; round < 12; round += 1) await work();
    const statements = new Map(asked);
    expect(statements.size).toBeGreaterThan(7);
    await grow(database, workspaceId, campaignId, webhookId);
    age();
    for (const [name, statement] of statements) {
      const { pages, most, plan } = await costOf(database, name, statement);
      // What is erased in chunks is erased along an index, and no more than a chunk is read.
      expect(most, plan).toBeLessThanOrEqual(5000);
      expect(pages, plan).toBeLessThan(100 + 4 * most);
    }
  }));

/** What is never due: keys of others, numbers, pools and uploads at rest, keys of requests of today, runs that wait for another day. */
async function growAtRest(database: Database, workspaceId: string): Promise<void> {
  const { id: other } = await seedRow(database, 'workspaces');
  await database.inEngine(async ({ db }) => {
    const all = sql`generate_series(1, ${SOME}::int) as i`;
    await sql`
      insert into api_keys (workspace_id, id, hash, name, prefix, permissions, created_at)
      select ${workspaceId}, gen_random_uuid(), sha256(i::text::bytea), 'key', 'tl_test_', '{*}', ${now} from ${all}`.execute(
      db,
    );
    await sql`
      insert into phone_numbers (workspace_id, id, phone_number, country, status, provider, created_at, updated_at)
      select w.id, gen_random_uuid(), '+1' || (w.first + i), 'US', 'active', 'simulator', ${now}, ${now}
      from ${all}, (values (${other}::uuid, 2120000000), (${workspaceId}::uuid, 2130000000)) as w (id, first)`.execute(
      db,
    );
    await sql`
      insert into number_pools (workspace_id, id, name, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), 'Pool', ${now}, ${now} from ${all}`.execute(db);
    await sql`
      with list as (
        insert into contact_lists (workspace_id, id, name, type, status, created_at, updated_at)
        values (${workspaceId}, gen_random_uuid(), 'People', 'contacts', 'ready', ${now}, ${now}) returning id)
      insert into contact_list_uploads (workspace_id, id, list_id, storage_key, file_name, status, url_expires_at,
        created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), list.id, i::text, 'a.csv', 'processed', ${now}, ${now}, ${now}
      from list, ${all}`.execute(db);
    await sql`
      insert into idempotency_keys (workspace_id, operation, key, fingerprint, resource_id, created_at)
      select ${workspaceId}, 'startWorkflowRun', i::text, '', gen_random_uuid(), ${now} from ${all}`.execute(db);
    await sql`
      insert into knowledge_base_erasures (workspace_id, document_id, due_at)
      select ${workspaceId}, gen_random_uuid(), '2100-01-01' from ${all}`.execute(db);
    await sql`
      insert into workflow_runs (workspace_id, id, workflow_id, version, workflow_name, status, node_id, context, error,
        blocked_since, looked_at, due_at, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), gen_random_uuid(), 1, 'Many', 'blocked', 'call', '{}',
        jsonb_build_object('code', case when i % 2 = 0 then 'limit_reached' else 'no_number' end), ${now}, ${now},
        ${tomorrow}, ${now}, ${now} from ${all}`.execute(db);
  });
}

test('what looks again and again for what is due reads next to nothing where there is much at rest, without statistics', () =>
  withOneConnection(async (database, asked, age) => {
    const { workspaceId } = await seed(database);
    const tables = ['api_keys', 'contact_list_uploads', 'idempotency_keys', 'knowledge_base_erasures', 'workflow_runs'];
    tables.push('number_pools', 'phone_numbers');
    await database.inEngine(async ({ db }) => {
      for (const table of tables) await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(db);
      await sql`update workspaces set max_concurrent_calls = 10`.execute(db);
      await sql`
        insert into workflow_runs (workspace_id, id, workflow_id, version, workflow_name, status, node_id, context,
          blocked_since, looked_at, due_at, created_at, updated_at)
        values (${workspaceId}, gen_random_uuid(), gen_random_uuid(), 1, 'One', 'blocked', 'call', '{}', ${now}, ${now},
          ${tomorrow}, ${now}, ${now})`.execute(db);
    });
    const work = async () => {
      await database.inEngine((tx) => findKeys(tx, ['00'.repeat(32), '11'.repeat(32)]));
      await calledNumber(database, { to: '+14155550100' }, ['simulator', 'sip']);
      await calledNumber(database, { to: '+14155550100', workspaceId }, ['sip']);
      await database.inEngine((tx) => takeDueNumbers(tx, now, tomorrow, 50));
      await database.inEngine((tx) => waitingUploads(tx, undefined, 200));
      await database.inEngine((tx) => waitingUploads(tx, now, 200));
      await database.inEngine((tx) => unconfirmedUploads(tx, now, 200));
      await database.inEngine(dueErasures);
      await database.inHotLoop((tx) => recheckBlocked(tx, now));
      await deleteOldIdempotencyKeys(database, now);
    };
    // What the seeding has sent twice has a name too.
    asked.clear();
    for (let round = 0; round < 12; round += 1) await work();
    const statements = new Map(asked);
    expect(statements.size).toBeGreaterThan(8);
    await growAtRest(database, workspaceId);
    age();
    for (const [name, statement] of statements) {
      const { pages, most, plan } = await costOf(database, name, statement);
      expect(pages, plan).toBeLessThan(20);
      expect(most, plan).toBeLessThan(10);
    }
  }));

test('figures, exports and lists read the calls of their time, campaign or direction, and no others', () =>
  withOneConnection(async (database, asked, age) => {
    const { workspaceId, campaignId } = await seed(database);
    const day = new Date('2026-01-15T00:00:00Z');
    const query = { from: day, to: new Date(day.getTime() + DAY_MS), groupBy: 'day' as const, bounds: [day, now] };
    const none = { direction: undefined, agentId: undefined, phoneNumberId: undefined, batchId: undefined };
    const count = () =>
      database.inSnapshot(workspaceId, (tx) =>
        readFigures(tx, { ...query, ...none, campaignId: undefined }, campaignCallDetails.isBatch),
      );
    const calls = callStore(campaignCallDetails, waitingCalls);
    const write = async (filter: CallFilter) => {
      for await (const rows of callRows({ database, calls }, workspaceId, filter, now))
        expect(rows.length).toBeLessThanOrEqual(100);
    };
    const page = { page: 1, perPage: 50, order: 'desc' as const };
    const filters = [
      { direction: 'inbound' as const },
      { statuses: ['ringing', 'in_progress'] as const },
      { phoneNumber: 14150000007 },
      { metadata: [['order', '7'] as const] },
    ];
    const work = async () => {
      await count();
      for (const filter of filters)
        await database.inSnapshot(workspaceId, (tx) => calls.page(tx, { ...page, ...filter }));
      await write({ queuedAfter: day.toISOString(), queuedBefore: query.to.toISOString() });
      await write({ campaignId: toId('cmp', campaignId) });
    };
    await database.inEngine(({ db }) =>
      sql`
        insert into calls (workspace_id, id, status, direction, simulated, from_number, to_number, phone_number_id,
          owner_kind, owner_id, campaign_id, attempt, start_at, place_before, ring_timeout_seconds, max_call_seconds, queued_at, ended_at)
        select ${workspaceId}, gen_random_uuid(), 'completed', 'outbound', true, 1, 14150000000 + i, gen_random_uuid(),
          'contact', gen_random_uuid(), case when i <= 300 then ${campaignId}::uuid else gen_random_uuid() end, 1, ${now}, ${now}, 1, 1,
          '2026-01-01T00:00:00Z'::timestamptz + i * interval '1 minute', ${now} from generate_series(1, ${MANY}::int) as i`.execute(
        db,
      ),
    );
    asked.clear();
    for (let round = 0; round < 3; round += 1) await work();
    age();
    await work();
    const statements = [...asked].filter(([, { text }]) => /from calls|join calls/.test(text));
    expect(statements.length).toBeGreaterThan(3 + 2 * filters.length);
    for (const [name, statement] of statements) {
      const { pages, plan } = await costOf(database, name, statement);
      // All calls are some 2,000.
      expect(pages, plan).toBeLessThan(500);
      // A set of calls is read without those that come after it.
      if (statement.text.includes('as at from calls')) expect(plan).not.toContain('"Sort"');
    }
    expect((await count()).total.calls).toBe(1440);
  }));

test('a page of opt-outs reads as many as it shows, first and next, of however many', () =>
  withOneConnection(async (database, asked) => {
    const { workspaceId } = await seed(database);
    const optOuts = (from: number, count: number) =>
      database.inEngine(({ db }) =>
        sql`
          insert into do_not_call (workspace_id, phone_number, created_at)
          select ${workspaceId}, 14150000000 + (i::bigint * 7919) % 1000003, '2026-01-01'::timestamptz + i * interval '1 second'
          from generate_series(${from}::int, ${from + count}::int) as i`.execute(db),
      );
    const read = (page: Partial<PageQuery>) =>
      database.inSnapshot(workspaceId, (tx) => listDoNotCall(tx, { page: 1, perPage: 20, order: 'desc', ...page }));
    await optOuts(1, 100);
    const pages = async () => {
      const { rows, end } = await read({ includeTotal: false });
      expect((await read({ includeTotal: false, after: end! })).rows[0]!.created_at.getTime()).toBeLessThan(
        rows.at(-1)!.created_at.getTime(),
      );
    };
    asked.clear();
    for (let round = 0; round < 3; round += 1) await pages();
    await optOuts(1000, MANY);
    await database.inEngine(({ db }) => sql`analyze do_not_call`.execute(db));
    await pages();
    const statements = [...asked].filter(([, { text }]) => text.includes('order by created_at'));
    expect(statements).toHaveLength(2);
    expect([...asked.values()].filter(({ text }) => text.includes('count(*)'))).toEqual([]);
    for (const [name, statement] of statements) {
      const { pages: read, plan } = await costOf(database, name, statement);
      expect(read, plan).toBeLessThan(60);
    }
  }));

test('a connection forgets its plans of ten seconds ago, so that the next are made for what tables have become', () =>
  withOneConnection(async (database, asked, age, said) => {
    await database.pool.query('create table growing (id integer primary key, n integer)');
    const read = () => database.inHotLoop(({ db }) => sql`select n from growing where n = ${1}`.execute(db));
    for (let round = 0; round < 3; round += 1) await read();
    const name = [...asked.keys()].at(-1)!;
    const expected = () =>
      database.inHotLoop(async ({ db }) => {
        const { rows } = await sql
          .raw<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(`explain (format json) execute ${name}(1)`)
          .execute(db);
        return rows[0]!['QUERY PLAN'][0].Plan['Plan Rows'];
      });
    const atFirst = await expected();
    await database.pool.query('insert into growing select i, 1 from generate_series(1, 100000) as i');
    const hasForgotten = () => said.splice(0).some((text) => text.startsWith('discard plans'));
    hasForgotten();
    await expected();
    expect(hasForgotten()).toBe(false);
    age();
    expect(await expected()).toBeGreaterThan(10 * atFirst);
    expect(hasForgotten()).toBe(true);
  }));
