import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { type DocumentRow, shapeDocument } from './document.ts';

export type KnowledgeBaseStatus = components['schemas']['KnowledgeBaseStatus'];
export type KnowledgeBaseSummary = components['schemas']['KnowledgeBaseSummary'];
export type KnowledgeBase = components['schemas']['KnowledgeBase'];

/** A knowledge base with what follows from its documents. */
export type KnowledgeBaseRow = Row<'knowledge_bases'> & {
  status: KnowledgeBaseStatus;
  document_count: number;
};

/** One with its documents. */
export interface WholeBase {
  base: KnowledgeBaseRow;
  documents: DocumentRow[];
}

/** A knowledge base as it stands in lists and events. */
export const shapeSummary = (row: KnowledgeBaseRow): KnowledgeBaseSummary => ({
  id: toId('kb', row.id),
  name: row.name,
  ...(row.description !== null && { description: row.description }),
  status: row.status,
  documentCount: row.document_count,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** A knowledge base with its documents. */
export const shapeKnowledgeBase = ({ base, documents }: WholeBase): KnowledgeBase => ({
  ...shapeSummary(base),
  documents: documents.map(shapeDocument),
});
