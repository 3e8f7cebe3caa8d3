import type { components } from '@trunkline/client/schema';
import type { TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import type { Content } from './document-files.ts';

export type KnowledgeBase = components['schemas']['KnowledgeBase'];
export type Document = components['schemas']['KnowledgeBaseDocument'];
export type Passage = components['schemas']['KnowledgeBasePassage'];

export const bases = '/v1/knowledge-bases';

export async function createBase(server: TestServer, name = 'Handbook'): Promise<string> {
  const { data, error } = await server.client.POST(bases, { body: { name } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data.id;
}

/** A body of these files, each a part named `files`. */
export function formOf(files: Record<string, Content>): FormData {
  const form = new FormData();
  for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content]), name);
  return form;
}

/** Sends such a body as it is. */
export const sendFiles = (
  server: TestServer,
  kbId: string,
  body: string | FormData,
  headers: Record<string, string> = {},
) =>
  fetch(`${server.url}${bases}/${kbId}/documents`, {
    method: 'POST',
    headers: { 'X-API-Key': server.apiKey, ...headers },
    body,
  });

/** Adds files, and answers their documents. */
export async function addFiles(server: TestServer, kbId: string, files: Record<string, Content>): Promise<Document[]> {
  const response = await sendFiles(server, kbId, formOf(files));
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: { documents: Document[] } }).data.documents;
}

export async function readBase(server: TestServer, kbId: string): Promise<KnowledgeBase> {
  const { data, error } = await server.client.GET(`${bases}/{kbId}`, { params: { path: { kbId } } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}

/** The knowledge base once all of its documents have been read. */
export async function settled(server: TestServer, kbId: string): Promise<KnowledgeBase> {
  await until(async () => (await readBase(server, kbId)).status !== 'processing');
  return readBase(server, kbId);
}

export async function search(server: TestServer, kbId: string, query: string, limit?: number): Promise<Passage[]> {
  const body = { query, ...(limit && { limit }) };
  const { data, error } = await server.client.POST(`${bases}/{kbId}/search`, { params: { path: { kbId } }, body });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data.passages;
}
