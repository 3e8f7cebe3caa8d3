import { type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { recordStatus } from './change-documents.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import type { KnowledgeBaseRow, WholeBase } from './knowledge-base.ts';
import { documentsOf, findKnowledgeBase } from './store.ts';

type Body = components['schemas']['CreateKnowledgeBase'];

/** Makes a knowledge base without documents. Throws `idempotency_key_reused`. */
export async function createKnowledgeBase(
  { database, clock }: Pick<KnowledgeBaseDeps, 'database' | 'clock'>,
  workspaceId: string,
  body: Body,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<WholeBase>> {
  const id = newUuid();
  const now = clock.now();
  const named = idempotencyKey
    ? { operation: 'createKnowledgeBase', key: idempotencyKey, request: body, resourceId: id, now }
    : undefined;
  return database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      const row = await tx.db
        .insertInto('knowledge_bases')
        .values({
          workspace_id: workspaceId,
          id,
          name: body.name,
          description: body.description ?? null,
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      const made: KnowledgeBaseRow = { ...row, status: 'empty', document_count: 0 };
      await recordStatus(tx, made, now);
      await audit(tx, auditOf('knowledge_base.created', 'knowledge_base', toId('kb', id)), now);
      return { base: made, documents: [] };
    };
    const again = async (made: string) => ({
      base: await existing(findKnowledgeBase(tx, made)),
      documents: await documentsOf(tx, made),
    });
    return makeOnce(tx, named, make, again);
  });
}
