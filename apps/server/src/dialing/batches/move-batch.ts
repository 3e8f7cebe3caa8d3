import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { campaignMoves, tellOfMove, tryMove } from '../campaigns/move-campaign.ts';
import { type Batch, batchStatus } from './batch.ts';
import type { BatchDeps } from './start-batch.ts';
import { findBatch } from './store.ts';

/** What clients do to a batch once it is there: the moves of its campaign that may do it, and who they are for. */
const batchMoves = {
  pause: { by: ['pause'], rule: 'Only a running batch can be paused' },
  resume: { by: ['resume'], rule: 'Only a paused batch can be resumed' },
  // In this order: a scheduled one may begin to run in between.
  cancel: { by: ['cancel', 'stop'], rule: 'Only a scheduled, running or paused batch can be cancelled' },
} as const satisfies Record<string, { by: readonly (keyof typeof campaignMoves)[]; rule: string }>;

/**
 * Pauses, resumes or cancels a batch; calls that are up finish. Throws `not_found`, and `invalid_state` where its status
 * doesn't allow it.
 */
export async function moveBatch(
  { database, clock, nudge, guard }: BatchDeps,
  workspaceId: string,
  id: string,
  name: keyof typeof batchMoves,
  auditEntry: AuditEntry,
): Promise<Batch> {
  const [now, since] = [clock.now(), guard.doubts()];
  const { by, rule } = batchMoves[name];
  const last = by.at(-1)!;
  const { batch, isMoved } = await database.inWorkspace(workspaceId, async (tx) => {
    let isDone = false;
    for (const each of by) isDone ||= await tryMove(tx, id, { kind: 'batch', name: each, now });
    const found = await existing(findBatch(tx, id, now));
    if (isDone) await audit(tx, auditEntry, now);
    return { batch: found, isMoved: isDone };
  });
  if (isMoved) nudge();
  // Where that is its status already, it may be asked for again because the witness could not be told.
  if (isMoved || batch.status === batchStatus(campaignMoves[last].to))
    await tellOfMove(guard, { workspaceId, campaignId: id }, last, { at: now, since });
  if (!isMoved) throw new ServiceError('invalid_state', `${rule}; this one is ${batch.status}.`);
  return batch;
}
