import { listed } from '../../foundation/database/page.ts';
import { together } from '../../foundation/database/together.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { existing, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { addDocuments } from './add-documents.ts';
import { createKnowledgeBase } from './create-knowledge-base.ts';
import { deleteDocument, deleteKnowledgeBase } from './delete-documents.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { shapeDocument } from './document.ts';
import { shapeKnowledgeBase, shapeSummary } from './knowledge-base.ts';
import { type FoundPassage, searchPassages } from './search-passages.ts';
import { documentsOf, findDocument, findKnowledgeBase, knowledgeBasePage } from './store.ts';
import { updateKnowledgeBase } from './update-knowledge-base.ts';

const DEFAULT_LIMIT = 10;

const idsOf = (path: { kbId: string; docId: string }) => ({
  knowledgeBaseId: fromId(path.kbId),
  documentId: fromId(path.docId),
});

const shapePassage = ({ document_id, file_name, position, text, score }: FoundPassage) => ({
  documentId: toId('doc', document_id),
  fileName: file_name,
  position,
  text,
  score,
});

/** The operations of the tag "Knowledge bases". */
export function knowledgeBaseOperations(deps: KnowledgeBaseDeps) {
  const { database } = deps;
  return {
    listKnowledgeBases: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, knowledgeBasePage, shapeSummary)),

    createKnowledgeBase: async ({ body, headers }, context) => {
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createKnowledgeBase(deps, context.workspaceId, body, auditOf(context), key);
      return tagged(replayable(created(shapeKnowledgeBase(made)), replayed), made.base);
    },

    getKnowledgeBase: async ({ path }, { workspaceId }) => {
      const id = fromId(path.kbId);
      const [base, documents] = await database.inSnapshot(workspaceId, (tx) =>
        together(tx, [() => findKnowledgeBase(tx, id), () => documentsOf(tx, id)]),
      );
      if (!base) throw notFound();
      return tagged(ok(shapeKnowledgeBase({ base, documents })), base);
    },

    updateKnowledgeBase: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const id = fromId(path.kbId);
      const auditEntry = auditOf(context)('knowledge_base.updated', 'knowledge_base', path.kbId);
      const changed = await updateKnowledgeBase(deps, workspaceId, id, body, auditEntry, headers['If-Match']);
      return tagged(ok(shapeKnowledgeBase(changed)), changed.base);
    },

    deleteKnowledgeBase: async ({ path }, context) => {
      const auditEntry = auditOf(context)('knowledge_base.deleted', 'knowledge_base', path.kbId);
      await deleteKnowledgeBase(deps, context.workspaceId, fromId(path.kbId), auditEntry);
      return ok({ id: path.kbId, deleted: true as const });
    },

    addKnowledgeBaseDocuments: async ({ path, body, headers }, context) => {
      const [id, key] = [fromId(path.kbId), headers['Idempotency-Key']];
      const { made, replayed } = await addDocuments(deps, context.workspaceId, id, body, auditOf(context), key);
      return replayable(created({ documents: made.map(shapeDocument) }), replayed);
    },

    getKnowledgeBaseDocument: async ({ path }, { workspaceId }) => {
      const { knowledgeBaseId, documentId } = idsOf(path);
      const found = await existing(
        database.inWorkspace(workspaceId, (tx) => findDocument(tx, knowledgeBaseId, documentId)),
      );
      return ok(shapeDocument(found));
    },

    deleteKnowledgeBaseDocument: async ({ path }, context) => {
      const auditEntry = auditOf(context)('document.deleted', 'document', path.docId);
      await deleteDocument(deps, context.workspaceId, idsOf(path), auditEntry);
      return ok({ id: path.docId, deleted: true as const });
    },

    searchKnowledgeBase: async ({ path, body }, { workspaceId, callId }) => {
      const id = fromId(path.kbId);
      if (callId !== undefined && !(await deps.basesOfCall(workspaceId, callId)).includes(path.kbId))
        throw new ServiceError('forbidden', "The knowledge base is not attached to the agent of this token's call.");
      const { query, limit = DEFAULT_LIMIT } = body;
      const passages = await database.inSnapshot(workspaceId, async (tx) => {
        const [base, found] = await together(tx, [
          () => findKnowledgeBase(tx, id),
          () => searchPassages(tx, id, query, limit),
        ]);
        if (!base) throw notFound();
        return found;
      });
      return ok({ passages: passages.map(shapePassage) });
    },
  } satisfies Partial<Handlers>;
}
