import type { DocumentStatus, Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type DocumentRow = Row<'knowledge_base_documents'>;
export type KnowledgeBaseDocument = components['schemas']['KnowledgeBaseDocument'];

/** Every move of a document; the contract shows the same. */
export const documentTransitions = {
  pending: ['processing'],
  processing: ['ready', 'failed'],
  ready: [],
  failed: [],
} as const satisfies Record<DocumentStatus, readonly DocumentStatus[]>;

/** Where the file of a document lies in the object store. */
export const fileKey = (documentId: string): string => `documents/${toId('doc', documentId)}`;

/** A document as clients see it. */
export function shapeDocument(row: DocumentRow): KnowledgeBaseDocument {
  return {
    id: toId('doc', row.id),
    fileName: row.file_name,
    ...(row.file_type && { fileType: row.file_type }),
    fileSizeBytes: row.file_size_bytes,
    ...(row.extracted_text_size_bytes !== null && { extractedTextSizeBytes: row.extracted_text_size_bytes }),
    status: row.status,
    ...(row.error_message !== null && { errorMessage: row.error_message }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
