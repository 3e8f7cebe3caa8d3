import { sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { ERASED_NUMBER } from '../../../platform/person-data/number-in-text.ts';
import { type CallKey, type EndedCall, fromE164, type PlacedCall } from '../../calls/call.ts';

/** Of what kind runs are as owners of calls. */
export const RUN = 'run';

/**
 * Writes calls of runs that a restored database does not have. The run is where it was before the call: what its `call` node
 * asks for was done already (`askForCall`). Whom it was with isn't known before that.
 * @returns those whose runs are there and go on
 */
export async function recallRunCalls(tx: EngineTx, calls: readonly PlacedCall[], now: Date): Promise<EndedCall[]> {
  const { rows } = await sql<{ id: string }>`
    insert into calls (workspace_id, id, status, outcome, direction, simulated, to_number, owner_kind, owner_id,
      attempt, start_at, place_before, ring_timeout_seconds, max_call_seconds, queued_at, dialed_at, ended_at, ended_by)
    select r.workspace_id, x.room_id, 'failed', 'unknown', 'outbound', false, ${ERASED_NUMBER}, ${RUN}, r.id, x.attempt, x.at,
      x.at, 0, 0, x.at, x.at, ${now}, 'error'
    from unnest(${calls.map((call) => call.workspaceId)}::uuid[], ${calls.map((call) => call.roomId)}::uuid[],
      ${calls.map((call) => call.owner.id)}::uuid[], ${calls.map((call) => call.attempt)}::smallint[],
      ${calls.map((call) => call.at)}::timestamptz[]) as x (workspace_id, room_id, run_id, attempt, at)
    join workflow_runs r on r.workspace_id = x.workspace_id and r.id = x.run_id and r.ended_at is null
    on conflict do nothing returning id`.execute(tx.db);
  const ids = new Set(rows.map((row) => row.id));
  return calls.filter((call) => ids.has(call.roomId)).map((call) => ({ ...call, outcome: 'unknown', endedAt: now }));
}

/** Says with whom a call was that was written so, once its run has come to its node. @param to as the node says, E.164 */
export async function nameRecalled(
  tx: EngineTx,
  { workspaceId, roomId }: CallKey,
  { to, agentId }: { to: string; agentId: string },
): Promise<void> {
  await sql`
    update calls set to_number = ${fromE164(to)}, agent_id = ${agentId}
    where workspace_id = ${workspaceId} and id = ${roomId} and to_number = ${ERASED_NUMBER}`.execute(tx.db);
}
