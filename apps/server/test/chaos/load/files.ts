import { ConnectionError, TrunklineError } from '@trunkline/client';
import { fromId } from '../../../src/foundation/values/ids.ts';
import type { Clients } from './client-record.ts';
import { follow } from './streams.ts';

/** Has a file of people imported, step by step, each until it is done. Answers the list. */
export async function importFile(clients: Clients, name: string, lines: string[], rows: number): Promise<string> {
  const { insist, record, next } = clients;
  const idempotencyKey = `list-${next()}`;
  const list = await insist('createContactList', (client) =>
    client.contactLists.create({ name, fileName: `${name}.csv`, defaultCountry: 'US' }, { idempotencyKey }),
  );
  const { uploadUrl, uploadHeaders, uploadDetails } = list;
  await insist('put file', () => put(uploadUrl, uploadHeaders, lines.join('\n')));
  const uploadId = uploadDetails.id;
  await follow(clients, 'upload', uploadId, (client, options) =>
    client.contactLists.streamUploadEvents(list.id, uploadId, options),
  );
  await insist('confirmContactListUpload', (client) => client.contactLists.confirmUpload(list.id, uploadId));
  record.promised.push({ kind: 'upload', id: fromId(uploadId), rows });
  return list.id;
}

/** A 409 after a lost answer says that the file has arrived. */
async function put(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(url, { method: 'PUT', headers, body, signal }).catch((cause) => {
    throw new ConnectionError('The file was not sent.', { cause });
  });
  const answer = await response.json().catch(() => undefined);
  if (!response.ok && response.status !== 409) throw new TrunklineError(response, answer);
}

/** Adds a document, which may be there twice where an answer was lost. */
export async function addDocument({ insist, record, next }: Clients): Promise<void> {
  const idempotencyKey = `base-${next()}`;
  const base = await insist('createKnowledgeBase', (client) =>
    client.knowledgeBases.create({ name: idempotencyKey }, { idempotencyKey }),
  );
  const content = `The word of ${idempotencyKey} is marvellous.\n`.repeat(200);
  const { documents } = await insist('addKnowledgeBaseDocuments', (client) =>
    client.knowledgeBases.addDocuments(base.id, [{ name: 'words.txt', content: new Blob([content]) }]),
  );
  for (const { id } of documents) record.promised.push({ kind: 'document', id: fromId(id) });
}
