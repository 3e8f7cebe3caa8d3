import { errorOf } from './errors.ts';
import type { ContactListsMethods } from './generated/methods.ts';
import type { components } from './generated/schema.ts';
import { attemptOnce, type SendOptions, withRetries } from './send.ts';

type Schemas = components['schemas'];
export type ContactList = Schemas['ContactList'];
export type ContactListUpload = Schemas['ContactListUpload'];

/** A file's content. A `Blob` or `File` is sent without reading it whole; in Node, `fs.openAsBlob(path)` makes one. */
export type FileContent = Blob | Uint8Array | string | ReadableStream<Uint8Array>;

export interface ContactFile
  extends Pick<
    Schemas['CreateContactList'],
    'encoding' | 'sheet' | 'phoneColumns' | 'nameColumns' | 'timezoneColumns' | 'doNotCallColumns'
  > {
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
  signal?: AbortSignal | undefined;
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

/** What takes more than one operation. */
export interface ContactFileMethods {
  /**
   * Creates a contact list, sends its file and waits until every row has been checked; `confirm` then imports the valid
   * ones. Throws `ContactFileError` for a file that can't be imported.
   */
  upload(file: ContactFile & ProgressOptions): Promise<{ list: ContactList; upload: CheckedUpload }>;
  /** Imports the list's latest upload, or the one that is named, and waits for the end. Twice does nothing twice. */
  confirm(contactListId: string, options?: ProgressOptions & { uploadId?: string }): Promise<ContactList>;
}

export const contactFiles = (lists: ContactListsMethods, options: SendOptions): ContactFileMethods => ({
  async upload({ file, onProgress, signal, ...list }) {
    const fileName = list.fileName ?? (file instanceof File ? file.name : 'contacts.csv');
    const created = await lists.create({ ...list, fileName }, { signal });
    const { uploadUrl, uploadHeaders, uploadDetails, ...made } = created;
    onProgress?.(uploadDetails);
    await putFile(options, { url: uploadUrl, headers: uploadHeaders, file, signal });
    const upload = await follow(lists, made.id, uploadDetails.id, { onProgress, signal });
    return { list: { ...made, uploadDetails: upload }, upload };
  },
  async confirm(id, { uploadId, onProgress, signal } = {}) {
    const read = () => lists.get(id, { signal });
    const uploadID = uploadId ?? (await read()).uploadDetails?.id;
    if (!uploadID) throw new Error('The list has no upload to confirm.');
    const confirmed = await lists.confirmUpload(id, uploadID, { signal });
    if (confirmed.uploadDetails?.status === 'processed') return confirmed;
    const upload = await follow(lists, id, uploadID, { onProgress, signal });
    return { ...(await read()), uploadDetails: upload };
  },
});

async function follow(
  lists: ContactListsMethods,
  listId: string,
  uploadId: string,
  { onProgress, signal }: { [Key in keyof ProgressOptions]: ProgressOptions[Key] | undefined },
): Promise<CheckedUpload> {
  let last: ContactListUpload | undefined;
  for await (const { data } of lists.streamUploadEvents(listId, uploadId, { signal })) {
    last = data;
    onProgress?.(data);
  }
  if (last?.metadata && /^(validated|processed)$/.test(last.status)) return last as CheckedUpload;
  if (last) throw new ContactFileError(listId, last);
  throw new Error('The stream had no event.');
}

interface FilePlace {
  url: string;
  headers: Record<string, string>;
  file: FileContent;
  signal: AbortSignal | undefined;
}
/** How long the service takes one file. */
const FILE_TIMEOUT_MS = 3_600_000;

/** A signed URL takes one file. A 409 after a lost answer therefore says that the file has arrived. */
async function putFile(options: SendOptions, { url, headers, file, signal }: FilePlace): Promise<void> {
  const isStream = file instanceof ReadableStream;
  let answersLost = 0;
  const attempt = async () => {
    // Fetch sends a stream only with `duplex`, which its types don't know.
    const init = { method: 'PUT', headers, body: file, signal, duplex: 'half' } as RequestInit;
    const request = new Request(url, init);
    try {
      return await attemptOnce(request, { ...options, timeoutMs: FILE_TIMEOUT_MS });
    } catch (error) {
      answersLost += 1;
      throw error;
    }
  };
  const maxRetries = isStream ? 0 : options.maxRetries;
  const response = await withRetries(attempt, { maxRetries, repeatable: true, signal });
  if (response.ok || (response.status === 409 && answersLost > 0)) return;
  throw errorOf(response, await response.json().catch(() => undefined));
}
