import { noRoom } from '../values/service-error.ts';

/** What is known of a stored object without reading it. */
export interface ObjectStat {
  sizeBytes: number;
  storedAt: Date;
}

/** A request that a client sends as it is: the URL, by PUT, with these headers. */
export interface SignedUpload {
  url: string;
  headers: Record<string, string>;
}

/**
 * Where files are kept: on disk, or in S3. An object is written once: the first complete write wins, later ones change
 * nothing, and half a write is never seen. Keys are lower-case letters, digits, `_`, `-`, `.` and `/` (`checkKey`).
 */
export interface ObjectStore {
  /**
   * Writes an object from a stream.
   * @param maxBytes the cap; past it, nothing is stored
   * @returns whether this write was the first; `false` means that the key held an object already
   * @throws ObjectTooLarge past the cap; `unavailable` where there is no room left; and whatever the stream throws
   */
  put(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<boolean>;
  /** Reads an object. @throws ObjectMissing */
  get(key: string): Promise<AsyncIterable<Uint8Array>>;
  /** Looks an object up; nothing where there is none. */
  stat(key: string): Promise<ObjectStat | undefined>;
  /** Removes an object; it is fine if there is none. */
  delete(key: string): Promise<void>;
  /**
   * A URL for one upload. The disk store holds it to `maxBytes` while it streams; S3 can't, so look at `stat` after it.
   * @param expiresInSeconds how long the URL can begin an upload
   */
  uploadUrl(
    key: string,
    options: { contentType: string; maxBytes: number; expiresInSeconds: number },
  ): Promise<SignedUpload>;
  /**
   * A URL that downloads the object as a file of this name.
   * @param fileName letters, digits, spaces, `.`, `_` and `-`
   */
  downloadUrl(
    key: string,
    options: { fileName: string; contentType: string; expiresInSeconds: number },
  ): Promise<string>;
  /** What an operator should know of it, a line each. */
  faults(): Promise<string[]>;
  /** Whether a finished upload is told of at once (`onStored` of the router); otherwise `stat` has to be polled. */
  readonly tellsOfUploads: boolean;
}

/** The content is larger than the cap that it was written under. */
export class ObjectTooLarge extends Error {}
/** There is no such object. */
export class ObjectMissing extends Error {}

const KEY = /^[a-z0-9][a-z0-9_.-]*(\/[a-z0-9][a-z0-9_.-]*)*$/;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$/;

/** Whether a key is one that a store takes: no empty part, none that begins with a dot, at most 512 characters. */
export const isKey = (key: string): boolean => key.length <= 512 && KEY.test(key);

/** Holds a key from the program to the rule. @throws TypeError */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
}

/** Holds the name of a download to what needs no quoting in a header. @throws TypeError */
export function checkFileName(fileName: string): void {
  if (!FILE_NAME.test(fileName)) throw new TypeError(`Not a download name: ${JSON.stringify(fileName)}`);
}

/** What writing a file failed with, with a disk or a quota that is full turned into `unavailable`. */
export function translatedWrite(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' ? noRoom('The place of files', error) : error;
}

/** Passes content on until it is over the cap. @throws ObjectTooLarge */
export async function* atMost(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ObjectTooLarge(`More than ${maxBytes} bytes`);
    yield chunk;
  }
}
