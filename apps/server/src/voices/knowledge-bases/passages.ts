import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';

/** The word that stands for a knowledge base among the words of its passages. No text has one that begins so. */
export const baseWord = (knowledgeBaseId: string): string => `=${knowledgeBaseId.replaceAll('-', '')}`;

export interface PassagesOf {
  knowledgeBaseId: string;
  documentId: string;
  language: string;
}

/** Adds passages of a document, from a position on. */
export async function insertPassages(
  tx: WorkspaceTx,
  { knowledgeBaseId, documentId, language }: PassagesOf,
  from: number,
  passages: string[],
): Promise<void> {
  await sql`
    insert into knowledge_base_passages (workspace_id, document_id, position, knowledge_base_id, text, words)
    select ${tx.workspaceId}, ${documentId}, ${from}::int + place - 1, ${knowledgeBaseId}, text,
      to_tsvector(${`pg_catalog.${language}`}::regconfig, text) || array_to_tsvector(array[${baseWord(knowledgeBaseId)}])
    from unnest(${passages}::text[]) with ordinality passage (text, place)`.execute(tx.db);
}

/** Removes what an earlier reading of a document has left. */
export async function deletePassages(tx: WorkspaceTx, documentId: string): Promise<void> {
  await sql`
    delete from knowledge_base_passages
    where workspace_id = ${tx.workspaceId} and document_id = ${documentId}`.execute(tx.db);
}
