import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { raiseDoNotCallOf } from '../../platform/do-not-call/store.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { ticks } from '../../platform/journal/ticks.ts';
import type { ContactListDeps } from './deps.ts';
import type { ListRow } from './list.ts';
import { importQueue } from './queues.ts';
import { findList, lockList } from './store.ts';
import { tellOfUpload } from './tell-of-upload.ts';
import type { UploadRow } from './upload.ts';
import { findUpload, moveUpload } from './upload-store.ts';

const WAIT_MS = 10_000;

/**
 * Imports a validated upload. Into an empty list that is a change of state; otherwise a job merges it, which is waited
 * for, at most 10 seconds. Whoever confirms again gets the same answer.
 * @returns the list, and the upload, `processed` or still `processing`
 * @throws `not_found`, `upload_not_validated`, `invalid_state`
 */
export async function confirmUpload(
  deps: ContactListDeps,
  workspaceId: string,
  ids: { listId: string; uploadId: string },
  auditOf: AuditOf,
  signal: AbortSignal,
): Promise<{ list: ListRow; upload: UploadRow }> {
  const auditEntry = auditOf('upload.confirmed', 'upload', toId('upl', ids.uploadId));
  const since = deps.guard.doubts();
  const status = await deps.database.inWorkspace(workspaceId, (tx) => confirm(tx, deps, ids, auditEntry));
  const patience = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
  // Of one instant: an import that ends between two reads would show its upload as processed beside the list without it.
  const read = () => deps.database.inSnapshot(workspaceId, (tx) => readBoth(tx, ids));
  if (status === 'processed') {
    const both = await read();
    if (both.list.type === 'dnd') await tellOfUpload(deps, workspaceId, { uploadId: ids.uploadId, since });
    return both;
  }
  for await (const _ of ticks(deps.notifications, ids.uploadId, patience)) {
    const both = await read();
    if (both.upload.status !== 'processing') return both;
  }
  return read();
}

async function readBoth(tx: WorkspaceTx, { listId, uploadId }: { listId: string; uploadId: string }) {
  const list = await findList(tx, listId);
  const upload = list && (await findUpload(tx, listId, uploadId));
  if (!upload) throw notFound();
  if (upload.status === 'failed') throw refusal(upload);
  return { list, upload };
}

function refusal({ status }: UploadRow): ServiceError {
  if (status === 'failed') return new ServiceError('invalid_state', 'The upload has failed. Create a new upload.');
  if (status === 'expired') return new ServiceError('invalid_state', 'The upload has expired. Create a new upload.');
  return new ServiceError('upload_not_validated', 'The upload is not validated yet. Follow its events.');
}

/** Decides under the list's lock, so that of two confirms at once one acts. */
async function confirm(
  tx: WorkspaceTx,
  { jobs, clock }: ContactListDeps,
  { listId, uploadId }: { listId: string; uploadId: string },
  auditEntry: AuditEntry,
): Promise<'processing' | 'processed'> {
  const list = await lockList(tx, listId);
  const upload = list && (await findUpload(tx, listId, uploadId));
  if (!upload) throw notFound();
  if (upload.status === 'processing' || upload.status === 'processed') return upload.status;
  const now = clock.now();
  const processing = await moveUpload(tx, uploadId, 'processing', {}, now, { auditEntry });
  if (!processing) throw refusal((await findUpload(tx, listId, uploadId)) ?? upload);
  if (list.total_entries > 0) {
    await jobs.enqueue(tx, importQueue, { workspaceId: tx.workspaceId, uploadId });
    return 'processing';
  }
  await finishImport(tx, { listId, uploadId, added: upload.valid_rows, imported: upload.valid_rows }, now);
  return 'processed';
}

/** Makes the entries of an upload count. The caller holds the list's lock. */
export async function finishImport(
  tx: WorkspaceTx,
  { listId, uploadId, added, imported }: { listId: string; uploadId: string; added: number; imported: number },
  now: Date,
): Promise<void> {
  await moveUpload(tx, uploadId, 'processed', { processed_at: now, imported_rows: imported }, now);
  await countEntries(tx, listId, added, now);
}

/** Counts entries that a list has now; it is ready then, and those of `dnd` are not called. The caller holds the list's lock. */
export async function countEntries(tx: WorkspaceTx, listId: string, added: number, now: Date): Promise<void> {
  await raiseDoNotCallOf(tx, listId);
  await sql`
    update contact_lists set status = 'ready', total_entries = total_entries + ${added}, updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and id = ${listId} and status in ('draft', 'ready')`.execute(tx.db);
}
