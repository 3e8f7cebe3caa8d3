import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../database/database.ts';
import { together } from '../../database/together.ts';
import { liveCalls, waitsForRoom } from '../../workspace/limits.ts';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The most runs of a workspace that a look wakes because something has changed; the others are woken by the next ones. */
const MOST_WOKEN = 1000;

/**
 * Has blocked runs looked at again at once where their workspace, or one of its numbers or pools, has changed since they were
 * looked at last (engine.md, "Runs"), and where it has room for their calls: claims leave them some. Reads only workspaces
 * that have blocked runs, and of those the runs that it wakes, each at the head of an index, which takes the plans of the hot
 * loop; one that is locked is just being woken or ended. Answers how many runs.
 */
export async function recheckBlocked(tx: EngineTx, now: Date): Promise<number> {
  const next = (after: RawBuilder<unknown>) => sql`
    select workspace_id from workflow_runs
    where blocked_since is not null and workspace_id > ${after} and workspace_id <= ${LAST_ID} order by workspace_id limit 1`;
  const { rows } = await sql<{ workspace_id: string; changed_at: Date; room: number }>`
    with recursive blocked (workspace_id) as (
      (${next(sql`${FIRST_ID}`)})
      union all select (${next(sql`b.workspace_id`)}) from blocked b where b.workspace_id is not null)
    select b.workspace_id, greatest(w.updated_at,
      (select max(n.updated_at) from phone_numbers n where n.workspace_id = b.workspace_id),
      (select max(p.updated_at) from number_pools p where p.workspace_id = b.workspace_id)) as changed_at,
      case when w.max_concurrent_calls is null then 0
        else greatest(0, w.max_concurrent_calls - ${liveCalls(sql`b.workspace_id`)})::int end as room
    from blocked b join workspaces w on w.id = b.workspace_id`.execute(tx.db);
  const wake = (workspaceId: string, which: RawBuilder<unknown>) => sql`
    update workflow_runs r set due_at = least(r.due_at, ${now}), looked_at = ${now}
    from (select ctid from workflow_runs
      where workspace_id = ${workspaceId} and ${which} for no key update skip locked) as b
    where r.ctid = b.ctid`;
  const woken = await together(
    tx,
    rows.flatMap(({ workspace_id, changed_at, room }) => [
      wake(
        workspace_id,
        sql`blocked_since is not null and looked_at >= '-infinity' and looked_at < ${changed_at} and server_id is null
          order by looked_at limit ${sql.lit(MOST_WOKEN)}`,
      ),
      ...(room > 0
        ? [wake(workspace_id, sql`${waitsForRoom(now)} and due_at > ${now} order by due_at limit ${room}`)]
        : []),
    ]),
  );
  return woken.reduce((found, { numAffectedRows = 0n }) => found + Number(numAffectedRows), 0);
}
