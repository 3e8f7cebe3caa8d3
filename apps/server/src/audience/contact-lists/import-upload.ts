import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { finishImport } from './confirm-upload.ts';
import type { ContactListDeps } from './deps.ts';
import { newValues } from './entry-store.ts';
import { eraseQueue, type UploadJob } from './queues.ts';
import { lockList, noteWords, readyUploads } from './store.ts';
import { tellOfUpload } from './tell-of-upload.ts';
import { moveUpload } from './upload-store.ts';

/** Merges a confirmed upload into its list, all rows in one transaction. Does nothing where that is done already. */
export async function importUpload(
  { database, clock, guard }: ContactListDeps,
  { workspaceId, uploadId }: UploadJob,
): Promise<void> {
  const merge = async (tx: WorkspaceTx): Promise<boolean> => {
    const listId = await listOf(tx, uploadId);
    const list = listId && (await lockList(tx, listId));
    if (!list) return false;
    // Read under the lock: another import may have ended meanwhile.
    const upload = await tx.db
      .selectFrom('contact_list_uploads')
      .select(['status', 'valid_rows', 'has_do_not_call'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', uploadId)
      .where(sql<boolean>`status in ('processing', 'processed')`)
      .executeTakeFirst();
    if (!upload) return false;
    // Its job is done again if the witness could not be told.
    if (upload.status === 'processed') return list.type === 'dnd';
    const updated = await mergeEntries(tx, uploadId, await readyUploads(tx, list.id));
    if (upload.has_do_not_call) await noteWords(tx, list.id);
    const added = upload.valid_rows - updated;
    await finishImport(tx, { listId: list.id, uploadId, added, imported: upload.valid_rows }, clock.now());
    return list.type === 'dnd';
  };
  const since = guard.doubts();
  const forbids = await database.inWorkspace(workspaceId, merge, { mayTakeLong: true });
  if (forbids) await tellOfUpload({ database, clock, guard }, workspaceId, { uploadId, since });
}

/** Ends an import that failed every time. */
export async function giveUpImport(
  { database, clock, jobs }: ContactListDeps,
  { workspaceId, uploadId }: UploadJob,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const message = 'The import failed. Upload the file again.';
    const change = { failure_code: 'unreadable_file', failure_message: message };
    const failed = await moveUpload(tx, uploadId, 'failed', change, clock.now(), { only: 'processing' });
    if (failed) await jobs.enqueue(tx, eraseQueue, { workspaceId, uploadIds: [uploadId], files: [] });
  });
}

async function listOf(tx: WorkspaceTx, uploadId: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('contact_list_uploads')
    .select('list_id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', uploadId)
    .executeTakeFirst();
  return row?.list_id;
}

/**
 * A number that is there already keeps its entry and takes the new columns; its staged row goes.
 * @param ready the uploads that make up the list so far
 * @returns how many entries were updated
 */
async function mergeEntries(tx: WorkspaceTx, uploadId: string, ready: string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    with taken as (
      update contact_list_entries old set ${newValues}
      from contact_list_entries new
      where new.workspace_id = ${tx.workspaceId} and new.upload_id = ${uploadId}
        and old.workspace_id = ${tx.workspaceId} and old.upload_id = any(${ready}::uuid[])
        and old.phone_number = new.phone_number
      returning new.phone_number
    )
    delete from contact_list_entries
    where workspace_id = ${tx.workspaceId} and upload_id = ${uploadId}
      and phone_number in (select phone_number from taken)`.execute(tx.db);
  return Number(numAffectedRows);
}
