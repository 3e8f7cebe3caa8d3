import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { existing, notFound } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { checkWithin } from './check-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import type { CountedTrunk } from './shape-trunk.ts';
import { changeTrunk, findTrunk, lockTrunk, moveTrunk, recordTrunk } from './store.ts';
import type { PauseReason, TrunkRow } from './trunk.ts';

/** Who or what pauses a trunk. */
interface Pause {
  reason: PauseReason;
  /** What the trunk said. */
  message?: string | null;
  /** UUIDs of the number whose call did, and of its pool. */
  numberId?: string | null;
  poolId?: string | null;
}

/** Pauses a trunk that the transaction holds; one that is paused is so for this reason from now on. */
export function pauseLocked(
  tx: WorkspaceTx,
  row: TrunkRow,
  { reason, message = null, numberId = null, poolId = null }: Pause,
  now: Date,
): Promise<TrunkRow> {
  const changes = {
    reason,
    message,
    paused_by_number_id: numberId,
    paused_by_pool_id: poolId,
    status_since: now,
    revision: row.revision + 1,
    updated_at: now,
  };
  return row.status === 'active' ? moveTrunk(tx, row, 'paused', changes) : changeTrunk(tx, row.id, changes);
}

/** Has nobody called over a trunk until it is resumed. Throws `not_found`. */
export async function pauseTrunk(
  deps: TrunkDeps,
  workspaceId: string,
  id: string,
  auditOf: AuditOf,
): Promise<CountedTrunk> {
  return deps.database.inWorkspace(workspaceId, async (tx) => {
    const now = deps.clock.now();
    const row = await existing(lockTrunk(tx, id));
    await pauseLocked(tx, row, { reason: 'requested' }, now);
    if (row.status === 'active') await deps.onTurned(tx, id, now);
    return recordTrunk(tx, id, now, auditOf('trunk.paused', 'trunk', toId('trk', id)));
  });
}

/** Checks a trunk, and has its numbers call again if it passes. Throws `not_found`. */
export async function resumeTrunk(
  deps: TrunkDeps,
  workspaceId: string,
  id: string,
  auditOf: AuditOf,
): Promise<CountedTrunk> {
  const row = await deps.database.inWorkspace(workspaceId, async (tx) => {
    const now = deps.clock.now();
    const before = await existing(lockTrunk(tx, id));
    await forgetFaults(tx, id);
    const paused = before.status === 'paused';
    // Its check, due now, ends the pause, here or by the background task.
    const unchecked = { reason: 'unchecked', message: null, status_since: now, due_at: now };
    const revised = { revision: before.revision + 1, updated_at: now };
    const after = await changeTrunk(tx, id, { ...revised, ...(paused && unchecked) });
    await recordTrunk(tx, id, now, auditOf('trunk.resumed', 'trunk', toId('trk', id)));
    return after;
  });
  if (row.status === 'paused') await checkWithin(deps, [row]);
  return (await deps.database.inWorkspace(workspaceId, (tx) => findTrunk(tx, id))) ?? Promise.reject(notFound());
}

/** What calls have held against a trunk is forgotten. */
async function forgetFaults(tx: WorkspaceTx, id: string): Promise<void> {
  await sql`
    update trunk_health set unknown_calls = '{}', silent_calls = '{}', full_answers = 0, slowed_since = null, slowed_until = null
    where workspace_id = ${tx.workspaceId} and trunk_id = ${id}`.execute(tx.db);
}
