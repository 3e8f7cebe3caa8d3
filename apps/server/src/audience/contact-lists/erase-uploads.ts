import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { NotYet } from '../../platform/jobs/jobs.ts';
import type { EraseJob } from './queues.ts';
import { eraseRejected } from './rejected-rows.ts';
import { uploadLock } from './upload-lock.ts';

const FILES_AT_ONCE = 10;

/**
 * Deletes the entries of uploads, in small transactions, their rejected rows, and their files. Safe to run twice.
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
      return database.inWorkspace(workspaceId, (tx) => eraseChunk(tx, uploadId));
    }, signal);
    signal.throwIfAborted();
  }
  // One that is refused keeps no other.
  const faults: unknown[] = [];
  await someAtOnce(FILES_AT_ONCE, files, (file) => objects.delete(file).catch((fault) => faults.push(fault)));
  if (faults.length > 0) throw faults[0];
}

/** Whether somebody has had the file of an upload that had failed read again. */
async function isRead(tx: WorkspaceTx, uploadId: string): Promise<boolean> {
  const upload = await tx.db
    .selectFrom('contact_list_uploads')
    .select('status')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', uploadId)
    .executeTakeFirst();
  return upload !== undefined && upload.status !== 'failed' && upload.status !== 'expired';
}

/** @returns whether there may be more of them */
async function eraseChunk(tx: WorkspaceTx, uploadId: string): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(${uploadLock(uploadId)}) as free`.execute(tx.db);
  if (!rows[0]?.free) throw new NotYet('The upload is still being validated.');
  if (await isRead(tx, uploadId)) return false;
  const ofUpload = sql`workspace_id = ${tx.workspaceId} and upload_id = ${uploadId}`;
  // Others may delete some of those that are picked.
  const { rows: picked } = await sql<{ count: number }>`
    with picked as materialized (
        select phone_number from contact_list_entries where ${ofUpload} limit ${sql.lit(MOST_AT_ONCE)}),
      gone as (
        delete from contact_list_entries where ${ofUpload} and phone_number = any(array(select phone_number from picked)))
    select count(*) as count from picked`.execute(tx.db);
  if (picked[0]!.count === MOST_AT_ONCE) return true;
  await eraseRejected(tx, uploadId);
  return false;
}
