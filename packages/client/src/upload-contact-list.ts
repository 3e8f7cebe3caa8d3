import type { Client } from 'openapi-fetch';
import type { components, paths } from './generated/schema.ts';
import { withRetries } from './retry.ts';
import type { EventStreams } from './streams.ts';
import { errorOf } from './trunkline-error.ts';
import { unwrap } from './unwrap.ts';

type Schemas = components['schemas'];
export type ContactList = Schemas['ContactList'];
export type ContactListUpload = Schemas['ContactListUpload'];

/** A file's content. A `Blob` or `File` is sent without reading it whole; in Node, `fs.openAsBlob(path)` makes one. */
export type FileContent = Blob | Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>;

export interface ContactFile {
  /** Name of the list. */
  name: string;
  file: FileContent;
  /** Name of the file, for people. That of a `File`, or `contacts.csv`, by default. */
  fileName?: string;
  /** `contacts` (the default) to call, `dnd` never to call. */
  type?: 'contacts' | 'dnd';
  /** ISO 3166-1 alpha-2, to read national numbers. Without it only international ones are valid. */
  defaultCountry?: string;
}

export interface ProgressOptions {
  /** Told of the upload each time something has happened to it. */
  onProgress?: (upload: ContactListUpload) => void;
  signal?: AbortSignal;
}

/** An upload whose rows have been counted. */
export type CheckedUpload = ContactListUpload & Required<Pick<ContactListUpload, 'metadata'>>;

/** The file can't be imported. `upload.failure` says why; the message says it for a person. */
export class ContactFileError extends Error {
  override readonly name = 'ContactFileError';
  readonly contactListId: string;
  readonly upload: ContactListUpload;

  constructor(contactListId: string, upload: ContactListUpload) {
    super(upload.failure?.message ?? `The upload is ${upload.status}.`);
    this.contactListId = contactListId;
    this.upload = upload;
  }
}

interface Deps {
  raw: Client<paths>;
  streams: EventStreams;
  fetch: (request: Request) => Promise<Response>;
  maxRetries: number;
}

/** Creates a list, sends its file and waits until every row has been checked. Confirm it to import the rows. */
export async function uploadContactList(
  deps: Deps,
  { file, ...options }: ContactFile & ProgressOptions,
): Promise<{ list: ContactList; upload: CheckedUpload }> {
  const { name, type, defaultCountry, onProgress, signal } = options;
  const fileName = options.fileName ?? (file instanceof Blob && 'name' in file ? String(file.name) : 'contacts.csv');
  const body = { name, fileName, ...(type && { type }), ...(defaultCountry && { defaultCountry }) };
  const created = await unwrap(deps.raw.POST('/v1/calls/contact-lists', { body, signal: signal ?? null }));
  const { uploadUrl, uploadHeaders, uploadDetails, ...list } = created;
  onProgress?.(uploadDetails);
  await put(deps, { url: uploadUrl, headers: uploadHeaders, file, signal });
  const upload = await follow(deps, list.id, uploadDetails.id, { onProgress, signal });
  return { list: { ...list, uploadDetails: upload }, upload };
}

/**
 * Imports an upload that has been validated, and waits for the end of it. Confirming twice imports once.
 * @param uploadId the list's latest upload by default
 */
export async function confirmContactList(
  deps: Deps,
  id: string,
  { uploadId, onProgress, signal }: ProgressOptions & { uploadId?: string } = {},
): Promise<ContactList> {
  const path = { id };
  const read = () => unwrap(deps.raw.GET('/v1/calls/contact-lists/{id}', { params: { path }, signal: signal ?? null }));
  const uploadID = uploadId ?? (await read()).uploadDetails?.id;
  if (!uploadID) throw new Error('The contact list has no upload to confirm.');
  const confirmed = await unwrap(
    deps.raw.POST('/v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm', {
      params: { path: { id, uploadID } },
      signal: signal ?? null,
    }),
  );
  if (confirmed.uploadDetails?.status === 'processed') return confirmed;
  const upload = await follow(deps, id, uploadID, { onProgress, signal });
  return { ...(await read()), uploadDetails: upload };
}

async function follow(
  { streams }: Deps,
  listId: string,
  uploadId: string,
  { onProgress, signal }: { [Key in keyof ProgressOptions]: ProgressOptions[Key] | undefined },
): Promise<CheckedUpload> {
  let last: ContactListUpload | undefined;
  for await (const { data } of streams.uploadEvents(listId, uploadId, signal ? { signal } : {})) {
    last = data;
    onProgress?.(data);
  }
  if (last && isChecked(last) && (last.status === 'validated' || last.status === 'processed')) return last;
  if (last) throw new ContactFileError(listId, last);
  throw new Error('The event stream of the upload ended without an event.');
}

const isChecked = (upload: ContactListUpload): upload is CheckedUpload => upload.metadata !== undefined;

interface Put {
  url: string;
  headers: Record<string, string>;
  file: FileContent;
  signal: AbortSignal | undefined;
}

/** A signed URL takes one file. A 409 after a lost answer therefore says that the file has arrived. */
async function put({ fetch, maxRetries }: Deps, { url, headers, file, signal }: Put): Promise<void> {
  const isStream = file instanceof ReadableStream;
  // Fetch sends a stream only with this, which its types don't know.
  const duplex = isStream ? { duplex: 'half' as const } : {};
  const request = () => new Request(url, { method: 'PUT', headers, body: file, signal: signal ?? null, ...duplex });
  let answersLost = 0;
  const send = async () => {
    try {
      return await fetch(request());
    } catch (error) {
      answersLost += 1;
      throw error;
    }
  };
  const response = await withRetries(send, { maxRetries: isStream ? 0 : maxRetries, repeatable: true, signal });
  if (response.ok || (response.status === 409 && answersLost > 0)) {
    await response.body?.cancel();
    return;
  }
  const text = await response.text();
  throw errorOf(response, parsed(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
