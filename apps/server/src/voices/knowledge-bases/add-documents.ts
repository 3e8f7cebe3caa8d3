import type { FilePart } from '../../foundation/http/handler.ts';
import { ObjectTooLarge } from '../../foundation/objects/object-store.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { lockStorage, readStorage, refuseFull, roomIn, storageFull } from '../../platform/workspace/storage.ts';
import { changeDocuments } from './change-documents.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { type DocumentRow, fileKey } from './document.ts';
import { claimFiles, eraseUnclaimed, eraseUnlessClaimed } from './erase-documents.ts';
import { fileNameOf } from './file-name.ts';
import { readQueue } from './queues.ts';
import { findKnowledgeBase } from './store.ts';

const MOST_FILES = 10;
const MOST_DOCUMENTS = 100;

interface StoredFile {
  id: string;
  fileName: string;
  sizeBytes: number;
}

/**
 * Stores files as documents of a knowledge base, all of them or none; their text is read afterwards.
 * @returns the documents, in the order of the files
 * @throws `not_found`; `limit_reached`; `payload_too_large`; `invalid_request` for what is no such list of files
 */
export async function addDocuments(
  deps: KnowledgeBaseDeps,
  workspaceId: string,
  knowledgeBaseId: string,
  files: AsyncIterable<FilePart>,
  auditOf: AuditOf,
): Promise<DocumentRow[]> {
  const { database, log } = deps;
  const { base, storage } = await database.inSnapshot(workspaceId, async (tx) => ({
    base: await existing(findKnowledgeBase(tx, knowledgeBaseId)),
    storage: await readStorage(tx, workspaceId, deps.storageMaxBytes),
  }));
  // Decided again under the lock; here it saves sending what can't be taken.
  refuseOverLimit(base.document_count + 1);
  refuseFull(storage);
  const stored: StoredFile[] = [];
  const coming = deps.coming.enter(workspaceId, roomIn(storage));
  let isKept = false;
  try {
    const counted = (content: AsyncIterable<Uint8Array>) =>
      coming.counted(content, () => new ServiceError('limit_reached', storageFull(storage)));
    for await (const file of files) await store(deps, workspaceId, { ...file, content: counted(file.content) }, stored);
    if (stored.length === 0) throw refusal('must hold at least one file');
    const documents = await commit(deps, workspaceId, knowledgeBaseId, stored, auditOf);
    isKept = true;
    return documents;
  } catch (error) {
    const ids = stored.map((file) => file.id);
    await database
      .inWorkspace(workspaceId, (tx) => eraseUnclaimed(tx, ids))
      .catch((err) => log.warn({ err }, 'files that no document claimed will be erased later'));
    throw error;
  } finally {
    coming.leave(isKept);
  }
}

async function store(
  { database, objects, maxBytes }: KnowledgeBaseDeps,
  workspaceId: string,
  { name, fileName, content }: FilePart,
  stored: StoredFile[],
): Promise<void> {
  if (name !== 'files') throw refusal('must come as parts named files');
  if (stored.length === MOST_FILES) throw refusal(`must be at most ${MOST_FILES} files`);
  const file: StoredFile = { id: newUuid(), fileName: fileNameOf(fileName), sizeBytes: 0 };
  await database.inWorkspace(workspaceId, (tx) => eraseUnlessClaimed(tx, file.id));
  stored.push(file);
  try {
    await objects.put(fileKey(file.id), measured(content, file), maxBytes);
  } catch (error) {
    if (!(error instanceof ObjectTooLarge)) throw error;
    throw new ServiceError('payload_too_large', `A file is larger than ${maxBytes / 1_000_000} MB.`);
  }
}

const bytesOf = (stored: readonly StoredFile[]) => stored.reduce((bytes, file) => bytes + file.sizeBytes, 0);

async function* measured(content: AsyncIterable<Uint8Array>, file: StoredFile): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    file.sizeBytes += chunk.length;
    yield chunk;
  }
}

async function commit(
  { database, jobs, clock, storageMaxBytes }: KnowledgeBaseDeps,
  workspaceId: string,
  knowledgeBaseId: string,
  stored: StoredFile[],
  auditOf: AuditOf,
): Promise<DocumentRow[]> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const added = await changeDocuments(tx, knowledgeBaseId, now, async (base) => {
      refuseOverLimit(base.document_count + stored.length);
      refuseFull(await lockStorage(tx, workspaceId, storageMaxBytes), bytesOf(stored));
      const ids = stored.map((file) => file.id);
      if (!(await claimFiles(tx, ids))) throw new ServiceError('unavailable', 'Sending the files took too long.');
      const rows = stored.map(({ id, fileName, sizeBytes }) => ({
        workspace_id: workspaceId,
        id,
        knowledge_base_id: knowledgeBaseId,
        file_name: fileName,
        file_size_bytes: sizeBytes,
        status: 'pending' as const,
        created_at: now,
        updated_at: now,
      }));
      const documents = await tx.db.insertInto('knowledge_base_documents').values(rows).returningAll().execute();
      for (const documentId of ids) await jobs.enqueue(tx, readQueue, { workspaceId, documentId });
      const entries = ids.map((id) => auditOf('document.added', 'document', toId('doc', id)));
      await audit(tx, entries, now);
      return documents;
    });
    if (!added) throw notFound();
    return added;
  });
}

function refuseOverLimit(count: number): void {
  if (count > MOST_DOCUMENTS)
    throw new ServiceError('limit_reached', `A knowledge base holds at most ${MOST_DOCUMENTS} documents.`);
}

const refusal = (message: string) =>
  new ServiceError('invalid_request', `body/files ${message}`, { details: [{ path: '/body/files', message }] });
