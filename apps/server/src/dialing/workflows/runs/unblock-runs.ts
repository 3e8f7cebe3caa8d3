import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import type { DueTime } from '../../../platform/jobs/quiet.ts';
import { blockedWorkspaces } from '../../../platform/workspace/blocked-workspaces.ts';
import { waitsForRoom } from '../../../platform/workspace/limits.ts';

/** While a run is blocked: what it waits for may come at any time. */
export const anyBlockedRun: DueTime = sql`
  select 'epoch'::timestamptz from workflow_runs where blocked_since is not null limit 1`;

/** The most runs of a workspace that a look wakes because something has changed; the others are woken by the next ones. */
const MOST_WOKEN = 1000;

/**
 * Has blocked runs looked at again at once if their workspace, or one of its numbers or pools, has changed since they
 * were looked at last (dialing.md, "Runs"), and if it has room for their calls: claims leave them some. Reads only
 * workspaces that have blocked runs, and of those the runs that it wakes, each at the head of an index; one that is
 * locked is just being woken or ended. Answers how many runs.
 */
export async function recheckBlocked(tx: EngineTx, now: Date): Promise<number> {
  const workspaces = await blockedWorkspaces(tx, sql`workflow_runs`, sql`blocked_since is not null`);
  const wake = (workspaceId: string, which: RawBuilder<unknown>) => sql`
    update workflow_runs r set due_at = least(r.due_at, ${now}), looked_at = ${now}
    from (select ctid from workflow_runs
      where workspace_id = ${workspaceId} and ${which} for no key update skip locked) as b
    where r.ctid = b.ctid`;
  const woken = await together(
    tx,
    workspaces.flatMap(({ workspaceId, changedAt, room }) => [
      wake(
        workspaceId,
        sql`blocked_since is not null and looked_at >= '-infinity' and looked_at < ${changedAt} and server_id is null
          order by looked_at limit ${sql.lit(MOST_WOKEN)}`,
      ),
      ...(room > 0
        ? [wake(workspaceId, sql`${waitsForRoom(now)} and due_at > ${now} order by due_at limit ${room}`)]
        : []),
    ]),
  );
  return woken.reduce((found, { numAffectedRows = 0n }) => found + Number(numAffectedRows), 0);
}
