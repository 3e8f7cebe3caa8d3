import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { existing, notFound } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { audit } from '../../platform/journal/record.ts';
import { changeDocuments } from './change-documents.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { eraseLater } from './erase-documents.ts';
import { lockKnowledgeBase } from './store.ts';

type Deps = Pick<KnowledgeBaseDeps, 'database' | 'clock'>;

/** Deletes one document, whatever its status: gone at once for clients, the rest by background work. Throws `not_found`. */
export async function deleteDocument(
  { database, clock }: Deps,
  workspaceId: string,
  { knowledgeBaseId, documentId }: { knowledgeBaseId: string; documentId: string },
  auditEntry: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const deleted = await changeDocuments(tx, knowledgeBaseId, now, () => deleteRows(tx, knowledgeBaseId, documentId));
    if (!deleted?.length) throw notFound();
    await eraseLater(tx, deleted);
    await audit(tx, auditEntry, now);
  });
}

/** Deletes a knowledge base with all of its documents. Throws `not_found`. */
export async function deleteKnowledgeBase(
  { database, clock }: Deps,
  workspaceId: string,
  id: string,
  auditEntry: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    await existing(lockKnowledgeBase(tx, id));
    await eraseLater(tx, await deleteRows(tx, id));
    await tx.db.deleteFrom('knowledge_bases').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
    await audit(tx, auditEntry, clock.now());
  });
}

/** @returns the UUIDs of the documents that were deleted: this one, or all */
async function deleteRows(tx: WorkspaceTx, knowledgeBaseId: string, documentId?: string): Promise<string[]> {
  const rows = await tx.db
    .deleteFrom('knowledge_base_documents')
    .where('workspace_id', '=', tx.workspaceId)
    .where('knowledge_base_id', '=', knowledgeBaseId)
    .$if(documentId !== undefined, (query) => query.where('id', '=', documentId!))
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}
