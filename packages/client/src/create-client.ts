import createFetchClient, { type Middleware } from 'openapi-fetch';
import { userAgent, variable } from './environment.ts';
import type { ContactListsMethods, Methods } from './generated/methods.ts';
import type { paths } from './generated/schema.ts';
import { methodsOf, sending } from './methods.ts';
import type { PathsClient } from './paths.ts';
import type { Fetch, SendOptions } from './send.ts';
import { type ContactFileMethods, contactFiles } from './upload-contact-list.ts';

export interface ClientOptions {
  /** Where the server is, such as `http://localhost:8080`. `TRUNKLINE_BASE_URL` by default. */
  baseUrl?: string | undefined;
  /**
   * A key of the workspace, `tl_…`. `TRUNKLINE_API_KEY` by default. `null` sends none: for a page of the server's own origin
   * whose browser is signed in.
   */
  apiKey?: string | null | undefined;
  /** Sends the requests instead of the global fetch: for a proxy, for tracing, or for tests. */
  fetch?: Fetch;
  /** How often a request that is safe to repeat is sent again. 2 by default, 0 for never. */
  maxRetries?: number;
  /** Milliseconds that one attempt may take, answer and all. 60,000 by default. */
  timeoutMs?: number;
  /** Is told a line for each attempt: method, path, status, request ID. `TRUNKLINE_DEBUG=1` writes them to stderr. */
  debug?: (line: string) => void;
}

/** The client: a method for every operation, and `GET`, `POST`, `PUT`, `PATCH` and `DELETE` for every path. */
export interface TrunklineClient extends PathsClient, Omit<Methods, 'contactLists'> {
  contactLists: ContactListsMethods & ContactFileMethods;
  /** A client with these options in the place of its own. It has the middleware that this one has so far. */
  withOptions(options: ClientOptions): TrunklineClient;
}

/** A base URL as people paste it: with a slash or the `/v1` of the API behind it. */
const originOf = (baseUrl: string) => baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');

/** What is needed, from the options or the environment. Throws where it is in neither. */
function needed(value: string | undefined, option: string, name: string): string {
  const found = value ?? variable(name);
  if (found) return found;
  throw new Error(`createClient has no ${option}: pass { ${option} }, or set ${name} in the environment.`);
}

/** Makes a client of one workspace. Throws where it isn't told the server or the key. */
export const createClient = (options: ClientOptions = {}): TrunklineClient => clientWith(options, []);

function clientWith(options: ClientOptions, middleware: readonly Middleware[]): TrunklineClient {
  const apiKey = options.apiKey === null ? null : needed(options.apiKey, 'apiKey', 'TRUNKLINE_API_KEY');
  const defaults: SendOptions = {
    fetch: options.fetch ?? ((request, init) => globalThis.fetch(request, init)),
    maxRetries: options.maxRetries ?? 2,
    timeoutMs: options.timeoutMs ?? 60_000,
    log: options.debug ?? (variable('TRUNKLINE_DEBUG') ? (line) => console.error(line) : undefined),
  };
  const raw = createFetchClient<paths>({
    baseUrl: originOf(needed(options.baseUrl, 'baseUrl', 'TRUNKLINE_BASE_URL')),
    headers: { 'X-API-Key': apiKey, ...userAgent },
    fetch: sending(defaults),
  });
  let used: readonly Middleware[] = [];
  const use = (...more: Middleware[]) => {
    raw.use(...more);
    used = [...used, ...more];
  };
  use(...middleware);
  const methods = methodsOf(raw, defaults);
  const { contactLists } = methods;
  return {
    ...(raw as unknown as PathsClient),
    ...methods,
    contactLists: { ...contactLists, ...contactFiles(contactLists, defaults) },
    use,
    eject(...gone) {
      raw.eject(...gone);
      used = used.filter((each) => !gone.includes(each));
    },
    withOptions: (own) => clientWith({ ...options, ...own }, used),
  };
}
