import type { ContactListDeps } from './deps.ts';
import { validateQueue } from './queues.ts';
import { moveUpload, uploadOfKey } from './upload-store.ts';

/**
 * Takes a file that has been stored under this key: its upload is validated next. Safe to run twice. A file that nobody
 * waits for any more is removed.
 */
export async function acceptFile(deps: ContactListDeps, storageKey: string): Promise<void> {
  const { database, objects, jobs, clock } = deps;
  const [upload, stored] = await Promise.all([
    database.inEngine((tx) => uploadOfKey(tx, storageKey)),
    objects.stat(storageKey),
  ]);
  if (!stored) return;
  if (!upload || upload.status === 'expired') return objects.delete(storageKey);
  await database.inWorkspace(upload.workspace_id, async (tx) => {
    const now = clock.now();
    const change = { uploaded_at: now, bytes_total: stored.sizeBytes };
    const uploaded = await moveUpload(tx, upload.id, 'uploaded', change, now);
    if (uploaded) await jobs.enqueue(tx, validateQueue, { workspaceId: upload.workspace_id, uploadId: upload.id });
  });
}
