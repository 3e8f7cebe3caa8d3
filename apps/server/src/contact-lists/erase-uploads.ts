import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../database/database.ts';
import { inChunks, MOST_AT_ONCE } from '../in-chunks.ts';
import { NotYet } from '../jobs/jobs.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { EraseJob } from './queues.ts';
import { uploadLock } from './upload-lock.ts';

/**
 * Deletes the entries of uploads, in small transactions, and their files. Safe to run twice.
 * @throws NotYet when a validation of such an upload still holds on; it will notice and let go
 */
export async function eraseUploads(
  { database, objects }: { database: Database; objects: ObjectStore },
  { workspaceId, uploadIds, files }: EraseJob,
  signal: AbortSignal,
): Promise<void> {
  for (const uploadId of uploadIds) {
    await inChunks(async () => {
      signal.throwIfAborted();
      return (await database.inWorkspace(workspaceId, (tx) => eraseChunk(tx, uploadId))) === MOST_AT_ONCE;
    }, signal);
    signal.throwIfAborted();
  }
  for (const file of files) await objects.delete(file);
}

async function eraseChunk(tx: WorkspaceTx, uploadId: string): Promise<number> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(${uploadLock(uploadId)}) as free`.execute(tx.db);
  if (!rows[0]?.free) throw new NotYet('The upload is still being validated.');
  const { numAffectedRows } = await sql`
    delete from contact_list_entries
    where workspace_id = ${tx.workspaceId} and upload_id = ${uploadId} and phone_number = any(array(
      select phone_number from contact_list_entries
      where workspace_id = ${tx.workspaceId} and upload_id = ${uploadId} limit ${sql.lit(MOST_AT_ONCE)}
    ))`.execute(tx.db);
  return Number(numAffectedRows);
}
