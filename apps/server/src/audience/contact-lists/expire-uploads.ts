import { type RawBuilder, sql } from 'kysely';
import { acceptFile } from './accept-file.ts';
import type { ContactListDeps } from './deps.ts';
import { eraseQueue } from './queues.ts';
import {
  moveUpload,
  noteFileErased,
  unconfirmedUploads,
  uploadsWithFileToErase,
  waitingUploads,
} from './upload-store.ts';

const CONFIRM_WITHIN_MS = 7 * 24 * 3600 * 1000;
/** For so long one can look why a file failed. */
const FAILED_FILE_KEPT_MS = 24 * 3600 * 1000;
const MOST = 200;

/**
 * Does what is due: accepts files that nobody told of, ends uploads whose file never came, and those that nobody
 * confirmed within seven days; erases the files of these, and those of failed uploads a day later. Servers may do it at
 * once.
 */
export async function expireUploads(deps: ContactListDeps, signal: AbortSignal): Promise<void> {
  const { database, objects, clock } = deps;
  const now = clock.now();
  // A store that tells of every file is asked only once the URL has ended, for what a crash kept it from telling.
  const waiting = await database.inEngine((tx) => waitingUploads(tx, objects.tellsOfUploads ? now : undefined, MOST));
  for (const upload of waiting) {
    if (signal.aborted) return;
    if (await objects.stat(upload.storage_key)) await acceptFile(deps, upload.storage_key);
    else if (upload.url_expires_at <= now)
      await expire(deps, upload.workspace_id, upload.id, 'pending', sql`url_expires_at <= ${now}`, now);
  }
  const validatedBy = new Date(now.getTime() - CONFIRM_WITHIN_MS);
  for (const upload of await database.inEngine((tx) => unconfirmedUploads(tx, validatedBy, MOST))) {
    if (signal.aborted) return;
    await expire(deps, upload.workspace_id, upload.id, 'validated', sql`validated_at <= ${validatedBy}`, now);
  }
  const failedBy = new Date(now.getTime() - FAILED_FILE_KEPT_MS);
  for (const upload of await database.inEngine((tx) => uploadsWithFileToErase(tx, failedBy, MOST))) {
    if (signal.aborted) return;
    await objects.delete(upload.storage_key);
    await database.inWorkspace(upload.workspace_id, (tx) => noteFileErased(tx, upload.id, now));
  }
}

/** @param where what made it due: it may have been changed since that was read */
async function expire(
  { database, jobs }: ContactListDeps,
  workspaceId: string,
  uploadId: string,
  from: 'pending' | 'validated',
  where: RawBuilder<unknown>,
  now: Date,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const expired = await moveUpload(tx, uploadId, 'expired', {}, now, { only: from, where });
    if (expired && from === 'validated') {
      await jobs.enqueue(tx, eraseQueue, { workspaceId, uploadIds: [uploadId], files: [] });
    }
  });
}
