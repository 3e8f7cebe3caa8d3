import { sql } from 'kysely';
import type { Database } from '../../database/database.ts';
import { workspaceIds } from '../../database/workspace-ids.ts';
import { inChunks, MOST_AT_ONCE } from '../../in-chunks.ts';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const CHUNK = 1000;
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
    let after = FIRST_ID;
    await inChunks(async () => {
      const runs = await nextRuns(database, workspaceId, before, after);
      const old = runs.filter(({ is_old }) => is_old).map(({ id }) => id);
      await inChunks(() => deleteSteps(database, workspaceId, old), signal);
      if (signal?.aborted) return false;
      await deleteRuns(database, workspaceId, old);
      after = runs.at(-1)?.id ?? after;
      return runs.length === CHUNK && runs.some(({ is_early }) => is_early);
    }, signal);
  }
}

async function nextRuns(database: Database, workspaceId: string, before: Date, after: string): Promise<WalkedRun[]> {
  const { rows } = await database.inHotLoop(({ db }) =>
    sql<WalkedRun>`
      select id, created_at < ${before} as is_early, coalesce(ended_at < ${before}, false) as is_old
      from workflow_runs where workspace_id = ${workspaceId} and id > ${after}
      order by id limit ${sql.lit(CHUNK)}`.execute(db),
  );
  return rows;
}

/** @returns whether there may be more of them */
async function deleteSteps(database: Database, workspaceId: string, runIds: string[]): Promise<boolean> {
  if (runIds.length === 0) return false;
  const { numAffectedRows } = await database.inHotLoop(({ db }) =>
    sql`
      delete from workflow_run_steps where ctid = any(array(
        select ctid from workflow_run_steps where workspace_id = ${workspaceId} and run_id = any(${runIds}::uuid[])
        limit ${sql.lit(MOST_AT_ONCE)}))`.execute(db),
  );
  return Number(numAffectedRows) === MOST_AT_ONCE;
}

async function deleteRuns(database: Database, workspaceId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await database.inHotLoop(({ db }) =>
    sql`delete from workflow_runs where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`.execute(db),
  );
}

/** A key is looked up by what comes after it. */
interface KeyPlace {
  workspace_id: string;
  key: string;
}

/**
 * Forgets concurrency keys whose last run ended seven days ago: no cooldown lasts longer. Whoever takes a key meanwhile
 * keeps it. They are walked through in the order of their own index, so that the end of a run need not write another one.
 */
export async function forgetOldConcurrencyKeys(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - KEY_KEPT_MS);
  let after: KeyPlace = { workspace_id: FIRST_ID, key: '' };
  await inChunks(async () => {
    const { rows } = await database.inHotLoop(({ db }) =>
      sql<KeyPlace>`
        with walked as (
          select workspace_id, key, active_run, last_ended_at from concurrency_keys
          where (workspace_id, key) > (${after.workspace_id}::uuid, ${after.key})
          order by workspace_id, key limit ${sql.lit(MOST_AT_ONCE)}),
        forgotten as (
          delete from concurrency_keys k using walked w
          where w.active_run is null and w.last_ended_at < ${before} and k.workspace_id = w.workspace_id
            and k.key = w.key and k.active_run is null and k.last_ended_at < ${before})
        select * from (select workspace_id, key from walked offset ${sql.lit(MOST_AT_ONCE - 1)}) as last`.execute(db),
    );
    after = rows[0] ?? after;
    return rows.length > 0;
  }, signal);
}
