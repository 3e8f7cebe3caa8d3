import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { changeDocuments } from './change-documents.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { detectLanguage } from './detect-language.ts';
import { type DocumentRow, documentTransitions, fileKey } from './document.ts';
import { deletePassages, insertPassages } from './passages.ts';
import type { ReadJob } from './queues.ts';
import { readingLimits } from './reading/limits.ts';
import { type Reading, runReader } from './run-reader.ts';

const GIVEN_UP = 'The file could not be read. Delete it and upload it again.';

/**
 * Reads a document: its text in passages, or why there is none. Safe to run again after a crash: it begins anew, and a
 * reading that was thought dead writes nothing more.
 */
export async function readDocument(
  deps: KnowledgeBaseDeps,
  { workspaceId, documentId }: ReadJob,
  signal: AbortSignal,
): Promise<void> {
  const { database, objects, clock } = deps;
  const document = await database.inWorkspace(workspaceId, (tx) => begin(tx, documentId, clock.now()));
  if (!document) return;
  let language: string | undefined;
  let position = 0;
  const onPassages = async (passages: string[]) => {
    await database.inWorkspace(workspaceId, async (tx) => {
      await holdReading(tx, document);
      language ??= await detectLanguage(tx, passages.join('\n'));
      const place = { knowledgeBaseId: document.knowledge_base_id, documentId, language };
      await insertPassages(tx, place, position, passages);
    });
    position += passages.length;
  };
  const content = await objects.get(fileKey(documentId));
  const reading = await runReader(content, readingLimits, onPassages, signal).catch((error) => {
    if (error instanceof ReadingOver) return undefined;
    throw error;
  });
  if (reading) await end(deps, document, { reading, language });
}

/** The document is gone, or another process reads it. */
class ReadingOver extends Error {}

/** `pending → processing`, or from the start again where another process died at it. */
async function begin(tx: WorkspaceTx, id: string, now: Date): Promise<DocumentRow | undefined> {
  await sql`
    update knowledge_base_documents set status = 'processing', updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and id = ${id}
      and status in ${from(documentTransitions, 'processing')}`.execute(tx.db);
  const document = await tx.db
    .updateTable('knowledge_base_documents')
    .set({ reading: sql`reading + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<boolean>`status = 'processing'`)
    .returningAll()
    .executeTakeFirst();
  if (document) await deletePassages(tx, id);
  return document;
}

/** Keeps the document as it is until the transaction ends. @throws ReadingOver */
async function holdReading(tx: WorkspaceTx, { id, reading }: DocumentRow): Promise<void> {
  const held = await tx.db
    .selectFrom('knowledge_base_documents')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where('reading', '=', reading)
    .where(sql<boolean>`status = 'processing'`)
    .forShare()
    .executeTakeFirst();
  if (!held) throw new ReadingOver();
}

async function end(
  { database, clock }: Pick<KnowledgeBaseDeps, 'database' | 'clock'>,
  document: DocumentRow,
  { reading, language }: { reading: Reading; language: string | undefined },
): Promise<void> {
  await database.inWorkspace(document.workspace_id, async (tx) => {
    const now = clock.now();
    await changeDocuments(tx, document.knowledge_base_id, now, async () => {
      const fileType = reading.fileType ?? null;
      const moved =
        'fault' in reading
          ? await sql`
              update knowledge_base_documents set status = 'failed', error_message = ${reading.fault},
                file_type = ${fileType}, updated_at = ${now}
              where workspace_id = ${tx.workspaceId} and id = ${document.id} and reading = ${document.reading}
                and status in ${from(documentTransitions, 'failed')}`.execute(tx.db)
          : await sql`
              update knowledge_base_documents set status = 'ready', extracted_text_size_bytes = ${reading.bytes},
                file_type = ${fileType}, language = ${language}, updated_at = ${now}
              where workspace_id = ${tx.workspaceId} and id = ${document.id} and reading = ${document.reading}
                and status in ${from(documentTransitions, 'ready')}`.execute(tx.db);
      if ('fault' in reading && moved.numAffectedRows) await deletePassages(tx, document.id);
    });
  });
}

/** Ends a reading that failed every time for a reason that isn't the file's. */
export async function giveUpReading(deps: KnowledgeBaseDeps, { workspaceId, documentId }: ReadJob): Promise<void> {
  const { database, clock } = deps;
  const document = await database.inWorkspace(workspaceId, (tx) => begin(tx, documentId, clock.now()));
  if (!document) return;
  await end(deps, document, { reading: { fault: GIVEN_UP, fileType: undefined }, language: undefined });
}
