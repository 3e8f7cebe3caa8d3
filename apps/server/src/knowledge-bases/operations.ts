import { pageAnswer, pageOf } from '../database/page.ts';
import { together } from '../database/together.ts';
import type { Handlers } from '../http/handler.ts';
import { fromId, toId } from '../ids.ts';
import { auditOf } from '../journal/audit-of.ts';
import { notFound } from '../service-error.ts';
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

const wrapped = <T>(data: T) => ({ success: true as const, data });

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
    listKnowledgeBases: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, (tx) => knowledgeBasePage(tx, page));
      return { status: 200, body: wrapped(pageAnswer(page, found, shapeSummary)) };
    },

    createKnowledgeBase: async ({ body }, context) => {
      const made = await createKnowledgeBase(deps, context.workspaceId, body, auditOf(context));
      return { status: 201, body: wrapped(made) };
    },

    getKnowledgeBase: async ({ path }, { workspaceId }) => {
      const id = fromId(path.kbId);
      const [base, documents] = await database.inSnapshot(workspaceId, (tx) =>
        together(tx, [() => findKnowledgeBase(tx, id), () => documentsOf(tx, id)]),
      );
      if (!base) throw notFound();
      return { status: 200, body: wrapped(shapeKnowledgeBase(base, documents)) };
    },

    updateKnowledgeBase: async ({ path, body }, context) => {
      const auditEntry = auditOf(context)('knowledge_base.updated', 'knowledge_base', path.kbId);
      const changed = await updateKnowledgeBase(deps, context.workspaceId, fromId(path.kbId), body, auditEntry);
      return { status: 200, body: wrapped(changed) };
    },

    deleteKnowledgeBase: async ({ path }, context) => {
      const auditEntry = auditOf(context)('knowledge_base.deleted', 'knowledge_base', path.kbId);
      await deleteKnowledgeBase(deps, context.workspaceId, fromId(path.kbId), auditEntry);
      return { status: 200, body: wrapped({ id: path.kbId, deleted: true as const }) };
    },

    addKnowledgeBaseDocuments: async ({ path, body }, context) => {
      const id = fromId(path.kbId);
      const documents = await addDocuments(deps, context.workspaceId, id, body, auditOf(context));
      return { status: 201, body: wrapped({ documents: documents.map(shapeDocument) }) };
    },

    getKnowledgeBaseDocument: async ({ path }, { workspaceId }) => {
      const { knowledgeBaseId, documentId } = idsOf(path);
      const found = await database.inWorkspace(workspaceId, (tx) => findDocument(tx, knowledgeBaseId, documentId));
      if (!found) throw notFound();
      return { status: 200, body: wrapped(shapeDocument(found)) };
    },

    deleteKnowledgeBaseDocument: async ({ path }, context) => {
      const auditEntry = auditOf(context)('document.deleted', 'document', path.docId);
      await deleteDocument(deps, context.workspaceId, idsOf(path), auditEntry);
      return { status: 200, body: wrapped({ id: path.docId, deleted: true as const }) };
    },

    searchKnowledgeBase: async ({ path, body }, { workspaceId }) => {
      const id = fromId(path.kbId);
      const { query, limit = DEFAULT_LIMIT } = body;
      const passages = await database.inSnapshot(workspaceId, async (tx) => {
        const [base, found] = await together(tx, [
          () => findKnowledgeBase(tx, id),
          () => searchPassages(tx, id, query, limit),
        ]);
        if (!base) throw notFound();
        return found;
      });
      return { status: 200, body: wrapped({ passages: passages.map(shapePassage) }) };
    },
  } satisfies Partial<Handlers>;
}
