import type { Generated } from 'kysely';

type Nullable<T> = T | null;

interface KnowledgeBasesTable {
  workspace_id: string;
  id: string;
  name: string;
  description: Nullable<string>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export type DocumentStatus = 'pending' | 'processing' | 'ready' | 'failed';
export type DocumentType = 'pdf' | 'docx' | 'txt' | 'md' | 'html' | 'csv' | 'json';

interface KnowledgeBaseDocumentsTable {
  workspace_id: string;
  id: string;
  knowledge_base_id: string;
  file_name: string;
  file_size_bytes: number;
  file_type: Nullable<DocumentType>;
  extracted_text_size_bytes: Nullable<number>;
  status: DocumentStatus;
  error_message: Nullable<string>;
  language: Nullable<string>;
  reading: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface KnowledgeBaseErasuresTable {
  workspace_id: string;
  document_id: string;
  due_at: Date;
}

/** The tables of knowledge bases, but for passages, which have SQL of their own. */
export interface KnowledgeBaseTables {
  knowledge_bases: KnowledgeBasesTable;
  knowledge_base_documents: KnowledgeBaseDocumentsTable;
  knowledge_base_erasures: KnowledgeBaseErasuresTable;
}
