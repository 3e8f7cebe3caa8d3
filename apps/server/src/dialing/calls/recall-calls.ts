import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { callTransitions, type EndedCall, type PlacedCall } from './call.ts';
import type { CallOwners } from './call-owner.ts';
import { keysOf, type OwnedRow, ownedColumns, toOwned } from './call-row.ts';

/**
 * Has a restored database know of calls that were placed after its backup, as calls that ended as `unknown`, so that nobody
 * is called again; what it knows already stays. No two of them may be of one owner.
 */
export async function recallCalls(
  tx: EngineTx,
  owners: Pick<CallOwners, 'lock' | 'recall' | 'onCallsEnded'>,
  calls: readonly PlacedCall[],
  now: Date,
): Promise<void> {
  if (calls.length === 0) return;
  await owners.lock(tx, calls);
  await owners.onCallsEnded(tx, await endLive(tx, calls, now), now);
  const { rows } = await sql<{ id: string }>`
    select c.id from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id`.execute(tx.db);
  const written = new Set(rows.map((row) => row.id));
  const recalled = await owners.recall(
    tx,
    calls.filter((call) => !written.has(call.roomId)),
    now,
  );
  await owners.onCallsEnded(tx, recalled, now);
}

/** Ends those of the calls that are live, and calls of their owners that were before them. */
async function endLive(tx: EngineTx, calls: readonly PlacedCall[], now: Date): Promise<EndedCall[]> {
  const placed = sql`
    unnest(${calls.map((call) => call.workspaceId)}::uuid[], ${calls.map((call) => call.roomId)}::uuid[],
      ${calls.map((call) => call.owner.id)}::uuid[], ${calls.map((call) => call.at)}::timestamptz[])
      as x (workspace_id, id, owner_id, at)`;
  const isLive = sql`c.workspace_id = x.workspace_id and c.ended_at is null`;
  const { rows } = await sql<{ workspace_id: string; id: string; at: Date }>`
    select c.workspace_id, c.id, x.at from ${placed} join calls c on ${isLive} and c.id = x.id
    union select c.workspace_id, c.id, x.at from ${placed} join calls c on ${isLive} and c.owner_id = x.owner_id
    order by id`.execute(tx.db);
  if (rows.length === 0) return [];
  const keys = rows.map((row) => ({ workspaceId: row.workspace_id, roomId: row.id }));
  await sql`
    update calls c set status = 'dialing', dialed_at = x.at
    from unnest(${keys.map((key) => key.workspaceId)}::uuid[], ${keys.map((key) => key.roomId)}::uuid[],
      ${rows.map((row) => row.at)}::timestamptz[]) as x (workspace_id, id, at)
    where c.workspace_id = x.workspace_id and c.id = x.id and c.status in ${from(callTransitions, 'dialing')}`.execute(
    tx.db,
  );
  const ended = await sql<OwnedRow>`
    update calls c set status = 'failed', outcome = 'unknown', ended_by = 'error', ended_at = ${now}
    from ${keysOf(keys)}
    where c.workspace_id = x.workspace_id and c.id = x.id and c.status in ${from(callTransitions, 'failed')}
    returning ${ownedColumns}`.execute(tx.db);
  return ended.rows.map((row) => ({ ...toOwned(row), outcome: 'unknown', endedAt: now }));
}
