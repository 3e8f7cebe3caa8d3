import { sql } from 'kysely';
import { NIL } from 'uuid';
import type { Database, EngineTx } from '../../../foundation/database/database.ts';
import { workspaceIds } from '../../../foundation/database/workspace-ids.ts';
import { inChunks, MOST_AT_ONCE } from '../../../foundation/values/in-chunks.ts';

/** Runs that are deleted with one look. */
export const RUNS_AT_ONCE = 1000;
const DAY_MS = 24 * 3600 * 1000;
/** As long as the longest `Cooldown-Minutes`, which only the next run with the key names. */
const KEY_KEPT_MS = 7 * DAY_MS;

interface WalkedRun {
  id: string;
  is_early: boolean;
  is_old: boolean;
}

/**
 * Deletes runs that ended before a time, with their steps, workspace by workspace, in small transactions. In the order of
 * their IDs, which is that of their starts, until none of a chunk began before that time. Servers may do it at once.
 */
export async function deleteOldRuns(database: Database, before: Date, signal?: AbortSignal): Promise<void> {
  for (const workspaceId of await database.inEngine(workspaceIds)) {
    let after: string = NIL;
    await inChunks(async () => {
      const runs = await nextRuns(database, workspaceId, before, after);
      const old = runs.filter(({ is_old }) => is_old).map(({ id }) => id);
      await deleteRuns(database, workspaceId, old, signal);
      if (signal?.aborted) return false;
      after = runs.at(-1)?.id ?? after;
      return runs.length === RUNS_AT_ONCE && runs.some(({ is_early }) => is_early);
    }, signal);
  }
}

async function nextRuns(database: Database, workspaceId: string, before: Date, after: string): Promise<WalkedRun[]> {
  const { rows } = await database.inHotLoop(({ db }) =>
    sql<WalkedRun>`
      select id, created_at < ${before} as is_early, coalesce(ended_at < ${before}, false) as is_old
      from workflow_runs where workspace_id = ${workspaceId} and id > ${after}
      order by id limit ${sql.lit(RUNS_AT_ONCE)}`.execute(db),
  );
  return rows;
}

/** @returns whether there may be more of them */
async function deleteSteps(database: Database, workspaceId: string, runIds: string[]): Promise<boolean> {
  // Others may change or delete some of those that are picked.
  const { rows } = await database.inHotLoop(({ db }) =>
    sql<{ count: number }>`
      with picked as materialized (
          select run_id, step from workflow_run_steps
          where workspace_id = ${workspaceId} and run_id = any(${runIds}::uuid[]) limit ${sql.lit(MOST_AT_ONCE)}),
        gone as (
          delete from workflow_run_steps s using picked p
          where s.workspace_id = ${workspaceId} and s.run_id = p.run_id and s.step = p.step)
      select count(*) as count from picked`.execute(db),
  );
  return rows[0]!.count === MOST_AT_ONCE;
}

/** Deletes ended runs, their steps first, in small transactions. @param signal leaves the rest to who begins again */
export async function deleteRuns(
  database: Database,
  workspaceId: string,
  ids: string[],
  signal?: AbortSignal,
): Promise<void> {
  if (ids.length === 0) return;
  await inChunks(() => deleteSteps(database, workspaceId, ids), signal);
  if (signal?.aborted) return;
  await database.inHotLoop(({ db }) =>
    sql`delete from workflow_runs where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`.execute(db),
  );
}

/** A page of PostgreSQL's 8 kB holds 291 rows at most: so many pages hold no more than one statement may delete. */
const PAGES_AT_ONCE = 17;

/**
 * Forgets concurrency keys whose last run ended seven days ago: no cooldown lasts longer. Whoever takes a key meanwhile
 * keeps it. They are walked through page by page as they lie in the table: no index says when a run ended, as each end
 * would have to write it, and along their key each would cost a page. Servers may do it at once.
 */
export async function forgetOldConcurrencyKeys(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - KEY_KEPT_MS);
  const pages = await database.inEngine(pagesOfKeys);
  let page = 0;
  await inChunks(async () => {
    const next = page + PAGES_AT_ONCE;
    await database.inHotLoop(({ db }) =>
      sql`
        delete from concurrency_keys where ctid >= ${`(${page},0)`}::tid and ctid < ${`(${next},0)`}::tid
          and active_run is null and last_ended_at < ${before}`.execute(db),
    );
    page = next;
    return page < pages;
  }, signal);
}

async function pagesOfKeys({ db }: EngineTx): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select pg_relation_size('concurrency_keys') / current_setting('block_size')::bigint as pages`.execute(db);
  return rows[0]!.pages;
}
