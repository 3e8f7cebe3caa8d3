import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Coming } from '../../platform/workspace/coming-files.ts';
import { lockStorage, readStorage, roomIn, storageFull } from '../../platform/workspace/storage.ts';
import type { ContactListDeps } from './deps.ts';
import { validateQueue } from './queues.ts';
import { failUpload, moveUpload, uploadOfKey } from './upload-store.ts';

/**
 * Takes a file that has been stored under this key: its upload is validated next. Safe to run twice. A file that nobody
 * waits for any more is removed, and one for which its workspace has no room, whose upload fails then.
 * @returns why the file is not kept, where there was no room
 */
export async function acceptFile(deps: ContactListDeps, storageKey: string): Promise<string | undefined> {
  const { database, objects, jobs, clock, storageMaxBytes } = deps;
  const [upload, stored] = await Promise.all([
    database.inEngine((tx) => uploadOfKey(tx, storageKey)),
    objects.stat(storageKey),
  ]);
  if (!stored) return undefined;
  const drop = () => objects.delete(storageKey);
  if (!upload || upload.status === 'expired') return void (await drop());
  const { workspace_id: workspaceId, id } = upload;
  const full = await database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const storage = await lockStorage(tx, workspaceId, storageMaxBytes);
    const isKept = upload.status !== 'pending' || stored.sizeBytes <= roomIn(storage);
    const change = { uploaded_at: now, bytes_total: isKept ? stored.sizeBytes : 0 };
    const uploaded = await moveUpload(tx, id, 'uploaded', change, now, { only: 'pending' });
    if (!uploaded) return undefined;
    if (isKept) return void (await jobs.enqueue(tx, validateQueue, { workspaceId, uploadId: id }));
    const message = storageFull(storage);
    await failUpload(tx, id, { code: 'storage_full', message }, now);
    return message;
  });
  if (full !== undefined) await drop();
  return full;
}

/** A file that comes under a key. */
export interface ComingFile extends Coming {
  /** Why no more of it is kept, for a person. */
  message: string;
}

/**
 * Begins to take the file of an upload; its workspace keeps no more than it may, with all else that comes.
 * @returns nothing where nobody waits for one under this key
 * @throws `rate_limited`, `unavailable`
 */
export async function beginFile(
  { database, coming, storageMaxBytes }: Pick<ContactListDeps, 'database' | 'coming' | 'storageMaxBytes'>,
  storageKey: string,
): Promise<ComingFile | undefined> {
  const upload = await database.inEngine((tx) => uploadOfKey(tx, storageKey));
  if (upload?.status !== 'pending') return undefined;
  const read = (tx: WorkspaceTx) => readStorage(tx, upload.workspace_id, storageMaxBytes);
  const storage = await database.inWorkspace(upload.workspace_id, read);
  return { ...coming.enter(upload.workspace_id, roomIn(storage)), message: storageFull(storage) };
}
