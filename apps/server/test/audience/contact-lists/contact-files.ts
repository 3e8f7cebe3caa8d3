import type { components } from '@trunkline/client/schema';
import type { TestServer } from '../../server.ts';

export type Upload = components['schemas']['ContactListUpload'];
export type UploadEvent = components['schemas']['ContactListUploadEvent'];
type CreateList = components['schemas']['CreateContactList'];

export interface Ids {
  id: string;
  uploadID: string;
}

/** A frame of an event stream, as it came over the wire. */
export interface Frame {
  id: string;
  event: string;
  data: UploadEvent;
}

/** Creates a list and uploads its file. */
export async function createWithFile(
  server: TestServer,
  file: string | Uint8Array<ArrayBuffer>,
  options: Partial<CreateList> = {},
): Promise<Ids> {
  const body = { name: 'Patients', fileName: 'patients.csv', defaultCountry: 'US', ...options };
  const { data, error } = await server.client.POST('/v1/calls/contact-lists', { body });
  if (!data) throw new Error(JSON.stringify(error));
  const stored = await fetch(data.uploadUrl, { method: 'PUT', headers: data.uploadHeaders, body: file });
  if (!stored.ok) throw new Error(await stored.text());
  return { id: data.id, uploadID: data.uploadDetails.id };
}

/** Uploads another file into a list. */
export async function addFile(server: TestServer, id: string, file: string): Promise<Ids> {
  const path = { id };
  const body = { fileName: 'more.csv' };
  const { data, error } = await server.client.POST('/v1/calls/contact-lists/{id}/uploads', { params: { path }, body });
  if (!data) throw new Error(JSON.stringify(error));
  const stored = await fetch(data.uploadUrl, { method: 'PUT', headers: data.uploadHeaders, body: file });
  if (!stored.ok) throw new Error(await stored.text());
  return { id, uploadID: data.id };
}

/** Opens the stream of an upload's events. */
export async function openEvents(server: TestServer, ids: Ids, lastEventId?: string): Promise<Response> {
  return fetch(`${server.url}/v1/calls/contact-lists/${ids.id}/uploads/${ids.uploadID}/events`, {
    headers: { 'X-API-Key': server.apiKey, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
  });
}

/** All frames of a stream, once it has ended. */
export async function framesOf(response: Response): Promise<Frame[]> {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const blocks = (await response.text()).split('\n\n').filter((block) => block.startsWith('id: '));
  return blocks.map((block) => {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    return { id: fields['id'], event: fields['event'], data: JSON.parse(fields['data']) };
  });
}

/** The frames that tell of another status: those between say how far a slow server is. */
export const statusesOf = async (response: Response): Promise<Frame[]> =>
  (await framesOf(response)).filter(({ event }) => event !== 'upload.progress');

/** Waits until the validation of an upload has ended, or its import. Returns the ID of the event that told so. */
export async function lastEventId(server: TestServer, ids: Ids): Promise<string> {
  return (await framesOf(await openEvents(server, ids))).at(-1)!.id;
}

/** Waits until the validation of an upload has ended. */
export async function validated(server: TestServer, ids: Ids): Promise<Upload> {
  const frames = await framesOf(await openEvents(server, ids));
  return frames.at(-1)!.data.data;
}

export async function confirm(server: TestServer, path: Ids) {
  return server.client.POST('/v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm', { params: { path } });
}

/** Creates a list and imports its file; it must be one that can be imported. */
export async function importFile(
  server: TestServer,
  file: string | Uint8Array<ArrayBuffer>,
  options?: Partial<CreateList>,
) {
  const ids = await createWithFile(server, file, options);
  const upload = await validated(server, ids);
  if (upload.status !== 'validated') throw new Error(JSON.stringify(upload.failure));
  const { data, error } = await confirm(server, ids);
  if (!data) throw new Error(JSON.stringify(error));
  return { ...ids, list: data, upload: data.uploadDetails! };
}

/** The entries of a list in the order of the file. */
export async function entriesOf(server: TestServer, id: string) {
  const params = { path: { id }, query: { order: 'asc', perPage: 100 } } as const;
  const { data } = await server.client.GET('/v1/calls/contact-lists/{id}/entries', { params });
  return data!.items;
}
