import { sql } from 'kysely';
import pg from 'pg';
import { expect } from 'vitest';
import { pickStatement } from '../../src/campaigns/claim/pick-contacts.ts';
import type { Database, Tx } from '../../src/database/database.ts';
import { type SeededCampaign, seedContacts } from '../seed/campaign.ts';

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
  const lanes = [1, 2, 3].map((lane) => ({ lane, timezone: 'UTC', opensAt: now, closesAt: now }));
  const statement = pickStatement(
    { workspace_id: workspaceId, id: campaignId, do_not_call_uploads: [] },
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
