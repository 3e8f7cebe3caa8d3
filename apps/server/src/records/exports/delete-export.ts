import { notFound } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { ExportDeps } from './deps.ts';
import { eraseFile, eraseUnfinished } from './erase-file.ts';
import { removeExport } from './store.ts';

/** Deletes an export with its file. One that is under way is not written any further. Throws `not_found`. */
export async function deleteExport(
  deps: ExportDeps,
  workspaceId: string,
  id: string,
  auditEntry: AuditEntry,
): Promise<void> {
  await deps.database.inWorkspace(workspaceId, async (tx) => {
    const removed = await removeExport(tx, id);
    if (!removed) throw notFound();
    const { status, storage_key: file } = removed;
    if (file !== null) await (status === 'running' ? eraseUnfinished : eraseFile)(deps, tx, file);
    await audit(tx, auditEntry, deps.clock.now());
  });
}
