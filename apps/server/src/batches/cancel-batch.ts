import { tryMove } from '../campaigns/move-campaign.ts';
import { type AuditEntry, audit } from '../journal/record.ts';
import { existing, ServiceError } from '../service-error.ts';
import type { Batch } from './batch.ts';
import type { BatchDeps } from './start-batch.ts';
import { findBatch } from './store.ts';

/**
 * Ends a scheduled or running batch; calls that are up finish. Throws `not_found`, and `invalid_state` for one that has
 * ended.
 */
export async function cancelBatch(
  { database, clock, nudge }: BatchDeps,
  workspaceId: string,
  id: string,
  auditEntry: AuditEntry,
): Promise<Batch> {
  const now = clock.now();
  const batch = await database.inWorkspace(workspaceId, async (tx) => {
    // In this order: a scheduled one may begin to run in between.
    const isCancelled =
      (await tryMove(tx, id, { kind: 'batch', name: 'cancel', now })) ||
      (await tryMove(tx, id, { kind: 'batch', name: 'stop', now }));
    const found = await existing(findBatch(tx, id, now));
    if (!isCancelled) {
      const message = `Only a scheduled or running batch can be cancelled; this one is ${found.status}.`;
      throw new ServiceError('invalid_state', message);
    }
    await audit(tx, auditEntry, now);
    return found;
  });
  nudge();
  return batch;
}
