import type { components } from '@trunkline/client/schema';
import { newUuid, toId } from '../ids.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { recordStatus } from './change-documents.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { type KnowledgeBase, type KnowledgeBaseRow, shapeKnowledgeBase } from './knowledge-base.ts';

type Body = components['schemas']['CreateKnowledgeBase'];

/** Makes a knowledge base without documents. */
export async function createKnowledgeBase(
  { database, clock }: Pick<KnowledgeBaseDeps, 'database' | 'clock'>,
  workspaceId: string,
  { name, description }: Body,
  auditOf: AuditOf,
): Promise<KnowledgeBase> {
  const id = newUuid();
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const row = await tx.db
      .insertInto('knowledge_bases')
      .values({
        workspace_id: workspaceId,
        id,
        name,
        description: description ?? null,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const made: KnowledgeBaseRow = { ...row, status: 'empty', document_count: 0 };
    await recordStatus(tx, made, now);
    await audit(tx, auditOf('knowledge_base.created', 'knowledge_base', toId('kb', id)), now);
    return shapeKnowledgeBase(made, []);
  });
}
