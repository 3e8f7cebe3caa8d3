import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../database/database.ts';
import { together } from '../../database/together.ts';
import { liveCalls, waitsForRoom } from '../../workspace/limits.ts';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Has blocked runs looked at again at once where their workspace, or one of its numbers or pools, has changed since they were
 * looked at last (engine.md, "Runs"), and where it has room for their calls: claims leave them some. Reads only workspaces
 * that have blocked runs, and of those the blocked runs, at the head of their index (take-over-runs.ts). Answers how many runs.
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
    update workflow_runs r set due_at = ${now}
    from (select ctid from workflow_runs
      where workspace_id = ${workspaceId} and id > ${FIRST_ID} and id <= ${LAST_ID} and blocked_since is not null
        and server_id is null and due_at > ${now} and ${which} for no key update) as b
    where r.ctid = b.ctid`;
  const woken = await together(
    tx,
    rows.flatMap(({ workspace_id, changed_at, room }) => [
      wake(workspace_id, sql`updated_at < ${changed_at} order by id`),
      ...(room > 0 ? [wake(workspace_id, sql`${waitsForRoom(now)} order by id limit ${room}`)] : []),
    ]),
  );
  return woken.reduce((found, { numAffectedRows = 0n }) => found + Number(numAffectedRows), 0);
}
