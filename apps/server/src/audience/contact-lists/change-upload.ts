import { isDeepStrictEqual } from 'node:util';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import type { ContactListDeps } from './deps.ts';
import { validateQueue } from './queues.ts';
import { type ReadAs, readAsOf } from './reading/file-format.ts';
import { findList } from './store.ts';
import { shownEdition, type UploadRow } from './upload.ts';
import { changeWaiting, lockUpload, readAgain } from './upload-store.ts';

type Said = components['schemas']['UpdateContactListUpload'];

/** What an upload is once this is said of it. */
function changeOf(upload: UploadRow, said: Said) {
  const { phoneColumns, doNotCallColumns } = said;
  return {
    readAs: readAsOf(said, (upload.read_as as ReadAs | null) ?? {}),
    phoneColumn: phoneColumns === undefined ? upload.phone_column : null,
    doNotCallColumns: doNotCallColumns === undefined ? upload.do_not_call_columns : doNotCallColumns,
  };
}

const CHECKED: readonly string[] = ['uploaded', 'validating', 'validated'];

/** Whether an upload is read so already: who asks again, for an answer that was lost, is told no more. */
function isSaid(upload: UploadRow, { readAs, phoneColumn, doNotCallColumns }: ReturnType<typeof changeOf>): boolean {
  const before = [upload.read_as, upload.phone_column, upload.do_not_call_columns];
  return isDeepStrictEqual(before, [readAs ?? null, phoneColumn, doNotCallColumns]);
}

function refusal({ status, failure_code }: UploadRow): ServiceError {
  if (status === 'uploaded' || status === 'validating') {
    return new ServiceError(
      'invalid_state',
      'The file is being checked. Follow the events of its upload, and then change it.',
    );
  }
  const why = failure_code === null ? `The upload is ${status}.` : 'The file is gone.';
  return new ServiceError('invalid_state', `${why} Create a new upload to have the file read otherwise.`);
}

/**
 * Has the file of an upload read otherwise: once it comes, or again from its start.
 * @throws `not_found`; `changed_meanwhile`; `invalid_state` while it is checked, and for one that is confirmed or has no file
 * any more
 */
export async function changeUpload(
  { database, jobs, objects, clock }: ContactListDeps,
  workspaceId: string,
  { listId, uploadId, ifMatch }: { listId: string; uploadId: string; ifMatch: string | undefined },
  said: Said,
  auditOf: AuditOf,
): Promise<UploadRow> {
  const auditEntry = auditOf('upload.updated', 'upload', toId('upl', uploadId));
  const { storage_key } = await database.inWorkspace(workspaceId, (tx) => locked(tx, listId, uploadId));
  const isThere = (await objects.stat(storage_key)) !== undefined;
  return database.inWorkspace(workspaceId, async (tx) => {
    const upload = await locked(tx, listId, uploadId);
    checkEdition(shownEdition(upload), ifMatch);
    const now = clock.now();
    const change = changeOf(upload, said);
    if (upload.status === 'pending') return changeWaiting(tx, uploadId, change, now, auditEntry);
    if (CHECKED.includes(upload.status) && isSaid(upload, change)) return upload;
    const again = isThere && (await readAgain(tx, upload, change, now, auditEntry));
    if (!again) throw refusal(upload);
    await jobs.enqueue(tx, validateQueue, { workspaceId, uploadId });
    return again;
  });
}

async function locked(tx: WorkspaceTx, listId: string, uploadId: string): Promise<UploadRow> {
  const upload = (await findList(tx, listId)) && (await lockUpload(tx, listId, uploadId));
  if (!upload) throw notFound();
  return upload;
}
