import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect } from 'vitest';
import { claimContacts } from '../../src/dialing/campaigns/claim/claim-contacts.ts';
import { pickStatement } from '../../src/dialing/campaigns/claim/pick-contacts.ts';
import type { Database, Tx } from '../../src/foundation/database/database.ts';
import { openLease } from '../../src/foundation/database/lease.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { type SeededCampaign, seedContacts } from '../seed/campaign.ts';
import { seedPool, usePool } from '../seed/pool.ts';
import { statementCosts } from './statement-cost.ts';

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Rows': number;
  Plans?: PlanNode[];
}

/** Runs something on the database, and counts the rows that its transactions have read, of any table. */
export const rowsReadBy = async (database: Database, run: (database: Database) => Promise<unknown>): Promise<number> =>
  (await readBy(database, run)).rows;

/** The same with the pages, of tables and indexes. */
export async function readBy(database: Database, run: (database: Database) => Promise<unknown>) {
  const read = { rows: 0, pages: 0 };
  const counted =
    <Transaction extends Tx, T>(fn: (tx: Transaction) => Promise<T>) =>
    async (tx: Transaction): Promise<T> => {
      // What earlier transactions of the connection have read may be counted still.
      const before = await countOf(tx);
      const result = await fn(tx);
      const after = await countOf(tx);
      read.rows += after.rows - before.rows;
      read.pages += after.pages - before.pages;
      return result;
    };
  await run({
    ...database,
    inWorkspace: (workspaceId, fn, lockSeconds) => database.inWorkspace(workspaceId, counted(fn), lockSeconds),
    inEngine: (fn) => database.inEngine(counted(fn)),
    inHotLoop: (fn) => database.inHotLoop(counted(fn)),
  });
  return read;
}

async function countOf({ db }: Tx): Promise<{ rows: number; pages: number }> {
  const { rows } = await sql<{ rows: number; pages: number }>`
    select (select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables) as rows,
      (select sum(pg_stat_get_xact_blocks_fetched(oid))::bigint from pg_class
        where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace) as pages`.execute(db);
  return rows[0]!;
}

/** The pages that one claim's pick of 50 reads, and the nodes that read the contacts. */
export async function pickCost(
  database: Database,
  { workspaceId, campaignId }: SeededCampaign,
  { generic }: { generic: boolean },
): Promise<{ pages: number; rows: number; scans: string[] }> {
  const now = new Date('2026-03-10T13:00:00Z');
  const lanes = [1, 2, 3].map((lane) => ({
    ...{ lane, timezones: ['UTC'], opensAt: now, closesAt: now, leftOut: undefined },
    free: { opensAt: now, closesAt: now, leftOut: undefined },
  }));
  const statement = pickStatement(
    { workspace_id: workspaceId, id: campaignId, do_not_call_uploads: { all: [], some: [] }, require_consent: false },
    lanes,
    50,
    now,
  );
  const plan = await database.inHotLoop(async ({ db }) => {
    const { sql: text, parameters } = statement.compile(db);
    const values = parameters.map((value) => pg.escapeLiteral(asText(value))).join(', ');
    await sql`select set_config('plan_cache_mode', ${generic ? 'force_generic_plan' : 'force_custom_plan'}, true)`.execute(
      db,
    );
    await sql.raw(`prepare measured as ${text}`).execute(db);
    const explain = `explain (analyze, buffers, format json) execute measured (${values})`;
    const { rows } = await sql.raw<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain).execute(db);
    await sql.raw('deallocate measured').execute(db);
    return rows[0]!['QUERY PLAN'][0].Plan;
  });
  return {
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    rows: plan['Actual Rows'],
    scans: nodesOf(plan).flatMap((node) =>
      node['Relation Name'] === 'campaign_contacts' ? [`${node['Node Type']} ${node['Index Name']}`] : [],
    ),
  };
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

function asText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? `{${value.join(',')}}` : String(value);
}

/** A larger index is a level higher, and PostgreSQL 15 walks it for each row that it locks. */
const LEVEL_MORE = 1.6;

/** Expects the same pages and the same plan at much as at little: no statistics, any plan, and where most are done. */
export async function expectEqualPicks(database: Database, little: number, much: number): Promise<void> {
  const few = await seedContacts(database, little, 0);
  const usual = await pickCost(database, few, { generic: false });
  expect(usual).toMatchObject({ rows: 50, scans: ['Index Scan campaign_contacts_claim'] });
  for (const [contacts, done] of [
    [much, 0],
    [little, 0.9 * little],
    [much, 0.9 * much],
  ] as const) {
    const campaign = await seedContacts(database, contacts, done);
    for (const generic of [true, false]) {
      const { pages, rows, scans } = await pickCost(database, campaign, { generic });
      expect({ rows, scans }).toEqual({ rows: 50, scans: usual.scans });
      expect(pages).toBeLessThanOrEqual(usual.pages * LEVEL_MORE);
    }
  }
}

/** Before 17 a list of keys behind another key looks dearer than a scan, as long as a table is taken for next to empty. */
export async function analyzeOnOld(database: Database, ...tables: string[]): Promise<void> {
  await database.inEngine(async ({ db }) => {
    const { rows } = await sql<{ old: boolean }>`
      select current_setting('server_version_num')::int < 170000 as old`.execute(db);
    if (!rows[0]!.old) return;
    for (const table of tables) await sql`analyze ${sql.table(table)}`.execute(db);
  });
}

/** A running campaign, due now, of whose contacts half are done. */
export async function seedClaimable(database: Database, contacts: number): Promise<SeededCampaign> {
  const campaign = await seedContacts(database, contacts, contacts / 2);
  await database.inEngine(({ db }) =>
    sql`with lanes as (insert into campaign_lanes select ${campaign.workspaceId}, ${campaign.campaignId}, i, array['Etc/GMT+' || i],
        'epoch', 'epoch' from generate_series(1, 3) as i)
      update campaigns set status = 'running', max_concurrency = 500, pending = ${contacts / 2}, done = ${contacts / 2} where id = ${campaign.campaignId}`.execute(
      db,
    ),
  );
  // As adding contacts does: without statistics the writes by ID read them all.
  await database.inEngine(({ db }) => sql`analyze campaign_contacts`.execute(db));
  return campaign;
}

/** The statements of a claim of 50 by what each is for, and the buffers that one may touch, however many contacts wait. */
const claimStatements: [name: string, text: RegExp, most: number][] = [
  ['limits', /from workspaces where id.*for no key update/s, 10],
  ['lock', /from campaigns c\s+join workspaces/, 40],
  ['room', /as live,/, 50],
  ['lanes', /from campaign_lanes l join/, 20],
  ['pick', /cross join lateral.*for update skip locked/s, 450],
  ['attempts', /array_agg\(c.at order by/, 200],
  ['queue', /insert into calls/, 1200],
  ['dialing', /set state = 'dialing'/, 1000],
  ['count', /update campaigns set in_flight/, 20],
  ['usage', /insert into workspace_usage/, 20],
];

/** The statements that a claim of 50 from a pool has besides, and the buffers that one may touch, however many members there are. */
const poolStatements: typeof claimStatements = [
  ['pool', /select from number_pools where/, 10],
  ['members', /date_part\('epoch', u.last_used_at\)/, 900],
  ['uses', /update number_usage u set\s+last_used_at/, 900],
];

/** The buffers of each statement of the second claim of a campaign, in a workspace with every limit. */
export async function claimCosts(database: Database, contacts: number, members = 0): Promise<Record<string, number>> {
  const campaign = await seedClaimable(database, contacts);
  if (members > 0) {
    const caps = { max_calls_per_number_per_day: 100, max_concurrent_per_number: 10 };
    const numbers = Array.from({ length: members }, () => ({}));
    const { poolId } = await seedPool(database, campaign.workspaceId, numbers, caps);
    await usePool(database, campaign.campaignId, poolId);
    await analyzeOnOld(database, 'number_usage');
  }
  await database.inEngine(({ db }) =>
    sql`update workspaces set max_concurrent_calls = 1000, max_calls_per_day = 1000, max_attempts_per_person_per_day = 3
      where id = ${campaign.workspaceId}`.execute(db),
  );
  const lease = await openLease({ database, seconds: 300, log: pino({ level: 'silent' }) });
  const terms = { serverId: lease.serverId(), free: 50, isSimulated: () => true, operator: noOperatorLimits };
  await claimContacts(database, campaign, { ...terms, now: new Date() }, async () => {});
  const costs = await statementCosts(database, async (measured) => {
    const { calls } = await claimContacts(measured, campaign, { ...terms, now: new Date() }, async () => {});
    expect(calls).toHaveLength(50);
  });
  await lease.release();
  return Object.fromEntries(
    costs.map(({ text, buffers }) => [
      [...claimStatements, ...poolStatements].find(([, pattern]) => pattern.test(text))?.[0] ?? text,
      buffers,
    ]),
  );
}

/** Expects every statement of a claim to touch as many buffers at much as at little, but for a level of an index. */
export async function expectEqualStatements(database: Database, little: number, much: number): Promise<void> {
  expectEqual(claimStatements, await claimCosts(database, little), await claimCosts(database, much));
}

/** The same of a claim from a pool of few members, and of many. */
export async function expectEqualPoolStatements(few: [Database, number], many: [Database, number]): Promise<void> {
  const [ofFew, ofMany] = [await claimCosts(few[0], 1000, few[1]), await claimCosts(many[0], 1000, many[1])];
  expectEqual(poolStatements, ofFew, ofMany);
}

function expectEqual(statements: typeof claimStatements, few: Record<string, number>, many: Record<string, number>) {
  for (const [name, , most] of statements) {
    const fits = few[name]! <= most && many[name]! <= Math.min(most, LEVEL_MORE * few[name]! + 50);
    expect(fits, `${name}: ${few[name]} buffers beside few, ${many[name]} beside many`).toBe(true);
  }
}
