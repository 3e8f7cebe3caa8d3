import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import type { RunRow } from './run.ts';

// No planner's switch holds here, and a plan may be as old as the tables: each look is for one key, or at the head of an index
// by a closed range, which the planner takes for next to nothing.

/** Gives the runs of servers that are no more to whoever claims them. Answers how many. */
export async function freeLostRuns(tx: EngineTx, now: Date): Promise<number> {
  const next = (after: RawBuilder<unknown>) => sql`
    select server_id from workflow_runs
    where server_id > ${after} and server_id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff' order by server_id limit 1`;
  const { rows } = await sql<{ server_id: string }>`
    with recursive holder (server_id) as (
      (${next(sql`'00000000-0000-0000-0000-000000000000'`)})
      union all select (${next(sql`h.server_id`)}) from holder h where h.server_id is not null)
    select server_id from holder h where h.server_id is not null and not exists (
      select from servers s where s.id = h.server_id and s.lease_until > clock_timestamp())`.execute(tx.db);
  let freed = 0;
  for (const { server_id } of rows) freed += await freeRuns(tx, sql`server_id = ${server_id}`, now);
  return freed;
}

/** A run that waits for a signal is claimed with it; any other looks for itself what there is to do. */
async function freeRuns(tx: EngineTx, which: RawBuilder<unknown>, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update workflow_runs set server_id = null,
      due_at = case when status in ('waiting_call', 'waiting_automation') then null else ${now}::timestamptz end
    where ${which}`.execute(tx.db);
  return Number(numAffectedRows);
}

/** What a server holds, as far as it knows. */
export interface HeldRuns {
  serverId: string;
  /** The runs that this process holds. */
  inMemory: ReadonlySet<string>;
  /** Those that were missing there at the last look, and which transaction had written each. */
  missing: ReadonlyMap<string, string>;
}

/** Both of them. @returns how many were lost with their servers, how many were given back, and what is missing now */
export async function freeUnheldRuns(tx: EngineTx, held: HeldRuns, now: Date) {
  const lost = await freeLostRuns(tx, now);
  return { lost, ...(await freeForgottenRuns(tx, held, now)) };
}

/**
 * Gives back what only the database holds in a server's name: the answer to a commit was lost. A run that was missing
 * at the last look too is, unless its row has changed since: then it is being claimed again, or was just claimed.
 */
export async function freeForgottenRuns(
  tx: EngineTx,
  { serverId, inMemory, missing }: HeldRuns,
  now: Date,
): Promise<{ missing: Map<string, string>; freed: number }> {
  const { rows } = await sql<Pick<RunRow, 'id'> & { written: string }>`
    select id, xmin::text as written from workflow_runs where server_id = ${serverId}`.execute(tx.db);
  const absent = rows.filter(({ id }) => !inMemory.has(id));
  const forgotten = absent.filter(({ id, written }) => missing.get(id) === written);
  let freed = 0;
  if (forgotten.length > 0) {
    const ids = forgotten.map(({ id }) => id);
    const writers = forgotten.map(({ written }) => written);
    const asSeen = sql`id = any(${ids}::uuid[]) and xmin::text = any(${writers}::text[])`;
    freed = await freeRuns(tx, sql`server_id = ${serverId} and ${asSeen}`, now);
  }
  return { missing: new Map(absent.map(({ id, written }) => [id, written])), freed };
}
