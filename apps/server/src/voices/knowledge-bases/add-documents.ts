import { createHash, type Hash } from 'node:crypto';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isKeyTaken, type Made } from '../../foundation/database/idempotency-keys.ts';
import { answerOnce } from '../../foundation/database/kept-answers.ts';
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
import { documentsOf, findKnowledgeBase } from './store.ts';

const MOST_FILES = 10;
const MOST_DOCUMENTS = 100;

interface StoredFile {
  id: string;
  fileName: string;
  sizeBytes: number;
  /** Of its content. */
  sha256: Hash;
}

const operation = 'addKnowledgeBaseDocuments';

/**
 * Stores files as documents of a knowledge base, all of them or none; their text is read afterwards.
 * @returns the documents, in the order of the files; those of an earlier request that are still there
 * @throws `not_found`; `limit_reached`; `payload_too_large`; `invalid_request` for what is no such list of files;
 *   `idempotency_key_reused`
 */
export async function addDocuments(
  deps: KnowledgeBaseDeps,
  workspaceId: string,
  knowledgeBaseId: string,
  files: AsyncIterable<FilePart>,
  auditOf: AuditOf,
  key?: string,
): Promise<Made<DocumentRow[]>> {
  const { database, log } = deps;
  const { base, storage, isRepeated } = await database.inSnapshot(workspaceId, async (tx) => ({
    base: await existing(findKnowledgeBase(tx, knowledgeBaseId)),
    storage: await readStorage(tx, workspaceId, deps.storageMaxBytes),
    isRepeated: key !== undefined && (await isKeyTaken(tx, { operation, key })),
  }));
  if (!isRepeated) {
    // Decided again under the lock; here it saves sending what can't be taken.
    refuseOverLimit(base.document_count + 1);
    refuseFull(storage);
  }
  const stored: StoredFile[] = [];
  const coming = deps.coming.enter(workspaceId, roomIn(storage));
  let isKept = false;
  try {
    const counted = (content: AsyncIterable<Uint8Array>) =>
      coming.counted(content, () => new ServiceError('limit_reached', storageFull(storage)));
    // The files of a request that is sent again are there already: these are only compared with them.
    const keep = isRepeated
      ? (_id: string, content: AsyncIterable<Uint8Array>) => drain(content, deps.maxBytes)
      : (id: string, content: AsyncIterable<Uint8Array>) => put(deps, workspaceId, id, counted(content));
    for await (const file of files) await take(file, stored, keep);
    if (stored.length === 0) throw refusal('must hold at least one file');
    const added = await commit(deps, workspaceId, { knowledgeBaseId, key }, stored, auditOf);
    isKept = !added.replayed;
    return added;
  } finally {
    const ids = stored.map((file) => file.id);
    if (!isKept)
      await database
        .inWorkspace(workspaceId, (tx) => eraseUnclaimed(tx, ids))
        .catch((err) => log.warn({ err }, 'files that no document claimed will be erased later'));
    coming.leave(isKept);
  }
}

/** Takes a file from a request, and has its content kept, or not. */
async function take(
  { name, fileName, content }: FilePart,
  stored: StoredFile[],
  keep: (id: string, content: AsyncIterable<Uint8Array>) => Promise<unknown>,
): Promise<void> {
  if (name !== 'files') throw refusal('must come as parts named files');
  if (stored.length === MOST_FILES) throw refusal(`must be at most ${MOST_FILES} files`);
  const file: StoredFile = {
    ...{ id: newUuid(), fileName: fileNameOf(fileName), sizeBytes: 0 },
    sha256: createHash('sha256'),
  };
  stored.push(file);
  await keep(file.id, measured(content, file));
}

async function drain(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
  }
}

const tooLarge = (maxBytes: number) =>
  new ServiceError('payload_too_large', `A file is larger than ${maxBytes / 1_000_000} MB.`);

async function put(
  { database, objects, maxBytes }: KnowledgeBaseDeps,
  workspaceId: string,
  id: string,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  await database.inWorkspace(workspaceId, (tx) => eraseUnlessClaimed(tx, id));
  try {
    await objects.put(fileKey(id), content, maxBytes);
  } catch (error) {
    if (!(error instanceof ObjectTooLarge)) throw error;
    throw tooLarge(maxBytes);
  }
}

const bytesOf = (stored: readonly StoredFile[]) => stored.reduce((bytes, file) => bytes + file.sizeBytes, 0);

async function* measured(content: AsyncIterable<Uint8Array>, file: StoredFile): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    file.sizeBytes += chunk.length;
    file.sha256.update(chunk);
    yield chunk;
  }
}

async function commit(
  deps: KnowledgeBaseDeps,
  workspaceId: string,
  { knowledgeBaseId, key }: { knowledgeBaseId: string; key: string | undefined },
  stored: StoredFile[],
  auditOf: AuditOf,
): Promise<Made<DocumentRow[]>> {
  const { clock, secrets } = deps;
  const now = clock.now();
  const files = stored.map(({ fileName, sha256 }) => ({ fileName, sha256: sha256.digest('hex') }));
  const named = key
    ? { operation, key, request: { knowledgeBaseId, files }, resourceId: newUuid(), now, secrets }
    : undefined;
  return deps.database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      () => insert(deps, tx, knowledgeBaseId, stored, { now, auditOf }),
      (made) => made.map((row) => row.id),
      async (ids) => {
        const there = new Map((await documentsOf(tx, knowledgeBaseId)).map((row) => [row.id, row]));
        return ids.flatMap((id) => there.get(id) ?? []);
      },
    ),
  );
}

async function insert(
  { jobs, storageMaxBytes }: KnowledgeBaseDeps,
  tx: WorkspaceTx,
  knowledgeBaseId: string,
  stored: StoredFile[],
  { now, auditOf }: { now: Date; auditOf: AuditOf },
): Promise<DocumentRow[]> {
  const { workspaceId } = tx;
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
}

function refuseOverLimit(count: number): void {
  if (count > MOST_DOCUMENTS)
    throw new ServiceError('limit_reached', `A knowledge base holds at most ${MOST_DOCUMENTS} documents.`);
}

const refusal = (message: string) =>
  new ServiceError('invalid_request', `body/files ${message}`, { details: [{ path: '/body/files', message }] });
