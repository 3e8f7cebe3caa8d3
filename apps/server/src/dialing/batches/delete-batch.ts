import { sql } from 'kysely';
import { eraseList } from '../../audience/contact-lists/delete-list.ts';
import { expireExports } from '../../audience/contact-lists/expire-exports.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { eraseCampaign } from '../campaigns/delete-campaign.ts';
import type { BatchDeps } from './start-batch.ts';

/**
 * Deletes an ended batch with its recipients and its list. Its calls stay, and still say that they are of a batch: the row
 * of `batches` stays without what it held. Throws `not_found`, and `invalid_state` for a batch that is active or has calls
 * that are up.
 */
export async function deleteBatch(
  { database, clock, jobs }: BatchDeps & { jobs: Jobs },
  workspaceId: string,
  id: string,
  auditEntry: AuditEntry,
): Promise<void> {
  const erase = async (tx: WorkspaceTx) => {
    await eraseCampaign(tx, jobs, id, 'batch');
    await eraseList(tx, jobs, id);
    await sql`
      update batches set rejected = '[]', rejected_count = 0
      where workspace_id = ${workspaceId} and id = ${id}`.execute(tx.db);
    const now = clock.now();
    await expireExports(tx, { batchId: toId('bat', id) }, now);
    await expireExports(tx, { contactListId: toId('list', id) }, now);
    await audit(tx, auditEntry, now);
  };
  await database.inWorkspace(workspaceId, erase, { mayTakeLong: true });
}
