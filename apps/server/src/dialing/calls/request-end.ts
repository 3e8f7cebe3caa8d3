import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { callTransitions } from './call.ts';
import type { CallOwners } from './call-owner.ts';
import { type OwnedRow, ownedColumns, toOwned } from './call-row.ts';

/**
 * Asks for the end of calls in the transaction that makes it necessary: takes back those that are `queued`, and notes
 * on live ones that they are to end. The server that holds such a call hangs it up, also after a crash of this one.
 * The owners of the calls are told of those taken back; the caller holds the owners' rows. Answers how many had not
 * ended yet.
 */
export async function requestEndOfCalls(
  tx: WorkspaceTx,
  owners: Pick<CallOwners, 'onCallsEnded'>,
  roomIds: string[],
  now: Date,
): Promise<number> {
  if (roomIds.length === 0) return 0;
  const open = sql`c.workspace_id = ${tx.workspaceId} and c.id = any(${roomIds}::uuid[]) and c.ended_at is null`;
  const takenBack = await sql<OwnedRow>`
    update calls c set status = 'cancelled', outcome = 'cancelled', ended_by = 'service', ended_at = ${now},
      end_requested_at = ${now}
    where ${open} and c.status in ${from(callTransitions, 'cancelled', 'queued')} returning ${ownedColumns}`.execute(
    tx.db,
  );
  const live = await sql`
    update calls c set end_requested_at = coalesce(end_requested_at, ${now})
    where ${open} returning id`.execute(tx.db);
  const how = { outcome: 'cancelled', endedAt: now, neverPlaced: true } as const;
  const ended = takenBack.rows.map((row) => ({ ...toOwned(row), ...how }));
  await owners.onCallsEnded(tx, ended, now);
  return ended.length + live.rows.length;
}
