import createFetchClient, { type Client } from 'openapi-fetch';
import type { paths } from './generated/schema.ts';
import { type ItemOf, items, type ListingInit, type ListingPath, type PageOf, pages } from './pages.ts';
import { retryingFetch } from './retry.ts';
import { type EventStreams, eventStreams } from './streams.ts';
import {
  type CheckedUpload,
  type ContactFile,
  type ContactList,
  confirmContactList,
  type ProgressOptions,
  uploadContactList,
} from './upload-contact-list.ts';

export interface ClientOptions {
  /** Where the server is, such as `http://localhost:8080`. */
  baseUrl: string;
  /** A key of the workspace, `tl_…`. */
  apiKey: string;
  /** Sends the requests instead of the global fetch. */
  fetch?: (request: Request) => Promise<Response>;
  /** How often a request that is safe to repeat is sent again. 3 by default, 0 for never. */
  maxRetries?: number;
}

/** The client: `GET`, `POST`, `PUT`, `PATCH` and `DELETE` for every operation, and what takes more than one of them. */
export interface TrunklineClient extends Client<paths>, EventStreams {
  /** The pages of a listing. `for await (const page of client.pages('/v1/calls')) …` Throws `TrunklineError`. */
  pages<Path extends ListingPath>(
    path: Path,
    ...init: ListingInit<Path>
  ): AsyncGenerator<PageOf<Path>, void, undefined>;
  /** The entries of a listing, page after page. `for await (const call of client.items('/v1/calls')) …` */
  items<Path extends ListingPath>(
    path: Path,
    ...init: ListingInit<Path>
  ): AsyncGenerator<ItemOf<Path>, void, undefined>;
  /**
   * Creates a contact list, sends its file and waits until every row has been checked; `confirmContactList` then
   * imports the valid ones. Throws `ContactFileError` for a file that can't be imported, else `TrunklineError`.
   */
  uploadContactList(file: ContactFile & ProgressOptions): Promise<{ list: ContactList; upload: CheckedUpload }>;
  /** Imports the list's latest upload, or the one that is named, and waits for the end. Twice does nothing twice. */
  confirmContactList(contactListId: string, options?: ProgressOptions & { uploadId?: string }): Promise<ContactList>;
}

/** A base URL as people paste it: with a slash or the `/v1` of the API behind it. */
const originOf = (baseUrl: string) => baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');

/** Makes a client of one workspace. */
export function createClient({ baseUrl, apiKey, fetch, maxRetries = 3 }: ClientOptions): TrunklineClient {
  const send = fetch ?? ((request: Request) => globalThis.fetch(request));
  const raw = createFetchClient<paths>({
    baseUrl: originOf(baseUrl),
    headers: { 'X-API-Key': apiKey },
    fetch: retryingFetch(send, maxRetries),
  });
  const streams = eventStreams(raw, send);
  const deps = { raw, streams, fetch: send, maxRetries };
  return {
    ...raw,
    ...streams,
    pages: (path, ...init) => pages(raw, path, ...init),
    items: (path, ...init) => items(raw, path, ...init),
    uploadContactList: (file) => uploadContactList(deps, file),
    confirmContactList: (id, confirmOptions) => confirmContactList(deps, id, confirmOptions),
  };
}
