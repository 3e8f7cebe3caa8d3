import { sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';
import { forWorkspace } from '../database/database.ts';
import { from } from '../database/moves.ts';
import { exportQueue } from '../exports/deps.ts';
import { eraseUnfinished } from '../exports/erase-file.ts';
import { exportTransitions } from '../exports/export.ts';
import type { ErasureDeps } from './deps.ts';
import { hasRecordingsToErase } from './erase-calls.ts';
import type { RunningErasure } from './erasure.ts';
import type { Outcome } from './outcome.ts';

/** Files that are deleted between two commits. */
const MOST = 100;

interface UploadFiles {
  id: string;
  storage_key: string;
  error_report_key: string | null;
}

/** Files of a workspace that hold people: of them no one can be taken out. */
interface Files {
  uploads: UploadFiles[];
  exports: { id: string; storage_key: string }[];
}

const readFiles = async (
  { db }: EngineTx,
  { workspace_id: workspaceId, created_at }: RunningErasure,
): Promise<Files> => {
  const uploads = await sql<UploadFiles>`
    select id, storage_key, error_report_key from contact_list_uploads
    where workspace_id = ${workspaceId} and status in ('validated', 'processing', 'processed', 'failed', 'expired')
      and created_at <= ${created_at} and (error_report_key is not null or (bytes_total > 0 and file_erased_at is null))
    limit ${sql.lit(MOST)}`.execute(db);
  const exports = await sql<{ id: string; storage_key: string }>`
    select id, storage_key from exports where workspace_id = ${workspaceId} and status = 'ready'
    limit ${sql.lit(MOST)}`.execute(db);
  return { uploads: uploads.rows, exports: exports.rows };
};

/**
 * Deletes uploaded files, error reports and exported files of a workspace, some at a time: before anything is noted, so that
 * whoever goes on after a crash deletes them again.
 */
export async function deleteFiles({ database, objects }: ErasureDeps, erasure: RunningErasure): Promise<Files> {
  const files = await database.inEngine((tx) => readFiles(tx, erasure));
  for (const { storage_key, error_report_key } of files.uploads) {
    await objects.delete(storage_key);
    if (error_report_key !== null) await objects.delete(error_report_key);
  }
  for (const { storage_key } of files.exports) await objects.delete(storage_key);
  return files;
}

/** Notes that these files are gone, and has exports that are under way begin anew: they may have read the number. */
export async function noteDeleted(
  tx: EngineTx,
  deps: ErasureDeps,
  erasure: RunningErasure,
  { uploads, exports }: Files,
  now: Date,
): Promise<Outcome> {
  const { workspace_id: workspaceId } = erasure;
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
  await sql`
    update contact_list_uploads set file_erased_at = ${now}, error_report_key = null
    where workspace_id = ${workspaceId} and id = any(${idsOf(uploads)}::uuid[])`.execute(tx.db);
  await sql`
    update exports set status = 'expired', expires_at = least(expires_at, ${now})
    where workspace_id = ${workspaceId} and id = any(${idsOf(exports)}::uuid[])
      and status in ${from(exportTransitions, 'expired')}`.execute(tx.db);
  const count = uploads.length + exports.length;
  if (count > 0) return { counts: { files: count }, again: true };
  await beginExportsAnew(tx, deps, workspaceId);
  return (await hasRecordingsToErase(tx, erasure)) ? { waitsFor: 'recording' } : {};
}

async function beginExportsAnew(tx: EngineTx, { jobs }: ErasureDeps, workspaceId: string): Promise<void> {
  const { rows } = await sql<{ id: string; storage_key: string }>`
    select id, storage_key from exports where workspace_id = ${workspaceId} and status = 'running' for update`.execute(
    tx.db,
  );
  for (const { id, storage_key } of rows) {
    if (storage_key === null) continue;
    await sql`
      update exports set storage_key = null where workspace_id = ${workspaceId} and id = ${id}`.execute(tx.db);
    await eraseUnfinished({ jobs }, forWorkspace(tx, workspaceId), storage_key);
    await jobs.enqueue(tx, exportQueue, { workspaceId, exportId: id });
  }
}
