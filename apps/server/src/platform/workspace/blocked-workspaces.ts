import { type RawBuilder, sql } from 'kysely';
import { MAX, NIL } from 'uuid';
import type { EngineTx } from '../../foundation/database/database.ts';
import { liveCalls } from './limits.ts';

/** A workspace in which something is blocked. */
export interface BlockedWorkspace {
  workspaceId: string;
  /** When it, or one of its numbers or pools, has changed last. */
  changedAt: Date;
  /** For how many calls it has room, where that is limited; else 0. */
  room: number;
}

/** At the end of an index: a maximum is planned as a look at all rows where they are guessed to be few. */
const latestChange = (table: RawBuilder<unknown>) => sql`
  (select updated_at from ${table} where workspace_id = b.workspace_id and updated_at > 'epoch'
    order by updated_at desc limit 1)`;

/**
 * The workspaces with rows of a table that are blocked, each found at the head of an index by workspace, which takes the plans
 * of the hot loop.
 * @param blocked the condition of the index, in SQL
 */
export async function blockedWorkspaces(
  tx: EngineTx,
  table: RawBuilder<unknown>,
  blocked: RawBuilder<unknown>,
): Promise<BlockedWorkspace[]> {
  const next = (after: RawBuilder<unknown>) => sql`
    select workspace_id from ${table}
    where ${blocked} and workspace_id > ${after} and workspace_id <= ${MAX} order by workspace_id limit 1`;
  const { rows } = await sql<{ workspace_id: string; changed_at: Date; room: number }>`
    with recursive blocked (workspace_id) as (
      (${next(sql`${NIL}`)})
      union all select (${next(sql`b.workspace_id`)}) from blocked b where b.workspace_id is not null)
    select b.workspace_id, greatest(w.updated_at,
      ${latestChange(sql`phone_numbers`)}, ${latestChange(sql`number_pools`)}) as changed_at,
      case when w.max_concurrent_calls is null then 0
        else greatest(0, w.max_concurrent_calls - ${liveCalls(sql`b.workspace_id`)})::int end as room
    from blocked b join workspaces w on w.id = b.workspace_id`.execute(tx.db);
  return rows.map((row) => ({ workspaceId: row.workspace_id, changedAt: row.changed_at, room: row.room }));
}
