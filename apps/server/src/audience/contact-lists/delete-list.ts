import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { ContactListDeps } from './deps.ts';
import { expireExports } from './expire-exports.ts';
import { type ListRow, listTransitions } from './list.ts';
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
    .select(['campaigns.id', 'campaigns.name', 'campaigns.status', 'campaigns.kind'])
    .where('campaign_lists.workspace_id', '=', tx.workspaceId)
    .where('campaign_lists.list_id', '=', listId)
    .orderBy('campaigns.id')
    .execute();
}

/** Throws `forbidden` where numbers of a `dnd` list may be called again, and the key may not say so. */
export function mayShorten({ type }: Pick<ListRow, 'type'>, permissions: readonly string[]): void {
  if (type === 'dnd') mayForget(permissions);
}

/** Throws `forbidden` where somebody who is not to be called may be again, and the key may not say so. */
export function mayForget(permissions: readonly string[]): void {
  if (permissions.includes('*') || permissions.includes('do_not_call:write')) return;
  const message =
    'What lets numbers be called again that are not to be called needs the permission do_not_call:write too.';
  throw new ServiceError('forbidden', message);
}

const MOST_NAMED = 100;

/** Throws `contact_list_in_use` where there are active campaigns or batches, and names them. */
function refuseUsed(active: Awaited<ReturnType<typeof campaignsOf>>): void {
  const [first, ...others] = active.map(({ id, name, status, kind }) => {
    const named = name === '' ? '' : `"${name}" `;
    return { kind, text: `the ${status} ${kind} ${named}(${toId(kind === 'batch' ? 'bat' : 'cmp', id)})` };
  });
  if (!first) return;
  const more =
    others.length === 0 ? ' uses' : others.length === 1 ? ' and another one use' : ` and ${others.length} others use`;
  const advice = `${first.kind === 'batch' ? 'Cancel' : 'Stop or cancel'} ${others.length === 0 ? 'it' : 'them'} first.`;
  const details = [first, ...others]
    .slice(0, MOST_NAMED)
    .map(({ text }) => ({ path: '/path/id', message: `is used by ${text}` }));
  throw new ServiceError('contact_list_in_use', `T${first.text.slice(1)}${more} this list. ${advice}`, { details });
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
    mayShorten(list, permissions);
    const campaigns = await campaignsOf(tx, listId);
    refuseUsed(campaigns.filter(({ status }) => ['scheduled', 'running', 'paused'].includes(status)));
    const now = clock.now();
    if (campaigns.length > 0) {
      await eraseUploadsOf(tx, jobs, listId);
      await sql`
        update contact_lists set status = 'archived', total_entries = 0, updated_at = ${now}
        where workspace_id = ${workspaceId} and id = ${listId} and status in ${from(listTransitions, 'archived')}`.execute(
        tx.db,
      );
    } else await eraseList(tx, jobs, listId);
    await expireExports(tx, { contactListId: toId('list', listId) }, now);
    await audit(tx, auditOf('contact_list.deleted', 'contact_list', toId('list', listId)), now);
  });
}

/** Erases a list that no campaign refers to; its entries and files by background work. */
export async function eraseList(tx: WorkspaceTx, jobs: Jobs, listId: string): Promise<void> {
  await eraseUploadsOf(tx, jobs, listId);
  await tx.db.deleteFrom('contact_lists').where('workspace_id', '=', tx.workspaceId).where('id', '=', listId).execute();
}

async function eraseUploadsOf(tx: WorkspaceTx, jobs: Jobs, listId: string): Promise<void> {
  const removed = await tx.db
    .deleteFrom('contact_list_uploads')
    .where('workspace_id', '=', tx.workspaceId)
    .where('list_id', '=', listId)
    .returning(['id', 'storage_key', 'error_report_key'])
    .execute();
  const job: EraseJob = {
    workspaceId: tx.workspaceId,
    uploadIds: removed.map((upload) => upload.id),
    files: removed.flatMap(({ storage_key, error_report_key }) => [storage_key, error_report_key ?? []].flat()),
  };
  for (const id of job.uploadIds) tx.tell(id);
  await jobs.enqueue(tx, eraseQueue, job);
}
