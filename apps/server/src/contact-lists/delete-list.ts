import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { from } from '../database/moves.ts';
import { toId } from '../ids.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { existing, ServiceError } from '../service-error.ts';
import type { ContactListDeps } from './deps.ts';
import { listTransitions } from './list.ts';
import { type EraseJob, eraseQueue } from './queues.ts';
import { lockList } from './store.ts';

/** The campaigns and batches that use the list. */
async function campaignsOf(tx: WorkspaceTx, listId: string) {
  return tx.db
    .selectFrom('campaign_lists')
    .innerJoin('campaigns', (join) =>
      join
        .onRef('campaigns.workspace_id', '=', 'campaign_lists.workspace_id')
        .onRef('campaigns.id', '=', 'campaign_lists.campaign_id'),
    )
    .select(['campaigns.status', 'campaigns.kind'])
    .where('campaign_lists.workspace_id', '=', tx.workspaceId)
    .where('campaign_lists.list_id', '=', listId)
    .execute();
}

/**
 * Deletes a list: gone at once for clients, its entries and files by background work. Kept as `archived` where a
 * campaign refers to it.
 * @param permissions of the key
 * @throws `not_found`; `forbidden` for a `dnd` list without `do_not_call:write`; `contact_list_in_use`
 */
export async function deleteList(
  { database, jobs, clock }: ContactListDeps,
  workspaceId: string,
  listId: string,
  permissions: readonly string[],
  auditOf: AuditOf,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const list = await existing(lockList(tx, listId));
    if (list.type === 'dnd' && !permissions.includes('*') && !permissions.includes('do_not_call:write')) {
      throw new ServiceError('forbidden', 'Deleting a do-not-call list needs the permission do_not_call:write too.');
    }
    const campaigns = await campaignsOf(tx, listId);
    const active = campaigns.find(({ status }) => ['scheduled', 'running', 'paused'].includes(status));
    if (active) {
      const first = active.kind === 'batch' ? 'Cancel' : 'Stop or cancel';
      throw new ServiceError(
        'contact_list_in_use',
        `A ${active.status} ${active.kind} uses this list. ${first} it first.`,
      );
    }
    const now = clock.now();
    const removed = await tx.db
      .deleteFrom('contact_list_uploads')
      .where('workspace_id', '=', workspaceId)
      .where('list_id', '=', listId)
      .returning(['id', 'storage_key', 'error_report_key'])
      .execute();
    if (campaigns.length > 0) {
      await sql`
        update contact_lists set status = 'archived', total_entries = 0, updated_at = ${now}
        where workspace_id = ${workspaceId} and id = ${listId} and status in ${from(listTransitions, 'archived')}`.execute(
        tx.db,
      );
    } else {
      await tx.db
        .deleteFrom('contact_lists')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', listId)
        .execute();
    }
    const job: EraseJob = {
      workspaceId,
      uploadIds: removed.map((upload) => upload.id),
      files: removed.flatMap(({ storage_key, error_report_key }) => [storage_key, error_report_key ?? []].flat()),
    };
    for (const id of job.uploadIds) tx.tell(id);
    await jobs.enqueue(tx, eraseQueue, job);
    await audit(tx, auditOf('contact_list.deleted', 'contact_list', toId('list', listId)), now);
  });
}
