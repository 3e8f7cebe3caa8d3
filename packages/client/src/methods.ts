import type { Client } from 'openapi-fetch';
import { type EventOptions, followEvents } from './event-stream.ts';
import { type Methods, methods } from './generated/methods.ts';
import type { paths } from './generated/schema.ts';
import type { NamedFile, Pending } from './method-types.ts';
import { listing } from './pages.ts';
import type { RequestOptions } from './request-options.ts';
import { type Fetch, type SendOptions, send } from './send.ts';
import { unwrap } from './unwrap.ts';
import { pathOfGroup, USUAL, usualName } from './usual-name.ts';

type Init = {
  params?: object;
  headers?: object;
  body?: unknown;
  signal?: AbortSignal | undefined;
};
type Result = { data?: unknown; error?: unknown; response: Response };
type Ask = (request: Request) => Promise<Response>;
type AnyRequest = (method: string, path: string, init: Init & { fetch: Ask; parseAs?: string }) => Promise<Result>;

/** A fetch that sends with the client's options, or with those that one request has of its own. */
export const sending =
  (defaults: SendOptions, own: RequestOptions = {}) =>
  (request: Request): Promise<Response> =>
    send(request, {
      ...defaults,
      timeoutMs: own.timeoutMs ?? defaults.timeoutMs,
      maxRetries: own.maxRetries ?? defaults.maxRetries,
    });

/** The methods of the client, each carried out by its entry in the generated table. */
export function methodsOf(raw: Client<paths>, defaults: SendOptions): Methods {
  const request = raw.request as unknown as AnyRequest;
  const made: Record<string, Record<string, unknown>> = {};
  for (const [group, text] of Object.entries(methods)) {
    const [start = '', ...entries] = text.replace('!', USUAL).split(' ');
    made[group] = {};
    for (const entry of entries) {
      const [, name, verb, marks, end] = /(?:(\w+):)?([A-Z])([a-z]*)(.*)/.exec(entry) as unknown as Entry;
      const path = `/v1${start.replace('+', pathOfGroup(group))}${end}`.replace(/[^/]*\^\//, '');
      made[group][name ?? usualName(entry)] = methodOf(request, defaults, VERBS[verb]!, marks, path);
    }
  }
  return made as unknown as Methods;
}

const VERBS: Readonly<Record<string, string>> = { G: 'GET', P: 'POST', U: 'PUT', A: 'PATCH', D: 'DELETE' };

/** What the generated table has of one operation. */
type Entry = [entry: string, name: string | undefined, verb: string, marks: string, end: string];

function methodOf(request: AnyRequest, defaults: SendOptions, method: string, marks: string, place: string) {
  const template = place.split('*');
  const is = (mark: string) => marks.includes(mark);
  return (...given: unknown[]) => {
    const path = template.reduce((before, after, at) => `${before}/${pathArgument(given[at - 1], at)}${after}`);
    const rest = given.slice(template.length - 1);
    const input = /[bfql]/.test(marks) ? rest.shift() : undefined;
    const options = (rest[0] ?? {}) as RequestOptions & EventOptions;
    if (is('s')) return streamed(request, defaults.fetch, path, options);
    const { signal, timeoutMs, maxRetries, headers, ...named } = options;
    const header = headersOf(named);
    if (is('k')) header['Idempotency-Key'] ??= randomKey();
    const init = {
      headers: { ...headers, ...header },
      signal,
      fetch: sending(defaults, options),
      parseAs: 'stream',
    };
    const body = is('f') ? formOf(input as File | NamedFile | (File | NamedFile)[]) : input;
    if (/[bf]/.test(marks)) return answered(request(method, path, { ...init, body }));
    const asked = (query?: object) => answered(request(method, path, { ...init, params: { query } }));
    return is('l') ? listing(asked, input as object | undefined) : asked(input as object | undefined);
  };
}

/** A part of the path. One that is empty would be another path. */
function pathArgument(value: unknown, at: number): string {
  if (typeof value === 'string' && value !== '') return encodeURIComponent(value);
  throw new TypeError(`Argument ${at} must be a text that is not empty.`);
}

/** `idempotencyKey` is `Idempotency-Key`. */
const headersOf = (named: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(named).map(([name, value]) => [
      name.replace(/^[a-z]|[A-Z]/g, (letter, at) => (at ? `-${letter}` : letter.toUpperCase())),
      value,
    ]),
  );

/** A random key of 128 bits. `randomUUID` is missing where a page came over plain http. */
const randomKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** One file is the part `file`, and several are parts `files`. */
function formOf(files: File | NamedFile | (File | NamedFile)[]) {
  const form = new FormData();
  const part = Array.isArray(files) ? 'files' : 'file';
  for (const file of [files].flat()) form.append(part, 'content' in file ? file.content : file, file.name);
  return form;
}

/** A request as a promise of what it answers, which can tell the whole answer too. What is read is a copy of its body. */
function answered(asked: Promise<Result>): Pending<unknown> {
  const read = async (result: Result) => ({ ...result, data: result.data && (await result.response.clone().json()) });
  const data = unwrap(asked.then(read));
  const withResponse = async () => ({ data: await data, response: (await asked).response });
  return Object.assign(data, { withResponse, asResponse: async () => (await withResponse()).response });
}

/** Streams come back by themselves, so that each of their requests is sent once. */
const streamed = (request: AnyRequest, fetch: Fetch, path: string, options: EventOptions & { query?: object }) =>
  followEvents(
    (lastEventId, signal) =>
      request('GET', path, {
        params: { query: options.query },
        headers: lastEventId ? { 'Last-Event-ID': lastEventId } : {},
        parseAs: 'stream',
        signal,
        fetch: (asked) => fetch(asked, { signal }),
      }) as never,
    options,
  );
