import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { audit } from '../../platform/journal/record.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { type KnowledgeBase, shapeKnowledgeBase } from './knowledge-base.ts';
import { documentsOf, findKnowledgeBase, lockKnowledgeBase } from './store.ts';

type Body = components['schemas']['UpdateKnowledgeBase'];

/** Changes name and description. Throws `not_found`. */
export async function updateKnowledgeBase(
  { database, clock }: Pick<KnowledgeBaseDeps, 'database' | 'clock'>,
  workspaceId: string,
  id: string,
  { name, description }: Body,
  auditEntry: AuditEntry,
): Promise<KnowledgeBase> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    await existing(lockKnowledgeBase(tx, id));
    await tx.db
      .updateTable('knowledge_bases')
      .set({ ...(name !== undefined && { name }), ...(description !== undefined && { description }), updated_at: now })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .execute();
    await audit(tx, auditEntry, now);
    return shapeKnowledgeBase((await findKnowledgeBase(tx, id))!, await documentsOf(tx, id));
  });
}
