import { sql } from 'kysely';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { audit } from '../../platform/journal/record.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import type { WholeBase } from './knowledge-base.ts';
import { documentsOf, findKnowledgeBase, lockKnowledgeBase } from './store.ts';

type Body = components['schemas']['UpdateKnowledgeBase'];

/** Changes name and description. Throws `not_found` and `changed_meanwhile`. */
export async function updateKnowledgeBase(
  { database, clock }: Pick<KnowledgeBaseDeps, 'database' | 'clock'>,
  workspaceId: string,
  id: string,
  { name, description }: Body,
  auditEntry: AuditEntry,
  ifMatch?: string,
): Promise<WholeBase> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    checkEdition(await existing(lockKnowledgeBase(tx, id)), ifMatch);
    await tx.db
      .updateTable('knowledge_bases')
      .set({
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        updated_at: now,
        edition: sql`edition + 1`,
      })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .execute();
    await audit(tx, auditEntry, now);
    return { base: (await findKnowledgeBase(tx, id))!, documents: await documentsOf(tx, id) };
  });
}
