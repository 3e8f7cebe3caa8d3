import { Agent, buildConnector, type Dispatcher, request as undiciRequest } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { OutboundError } from './outbound-error.ts';

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** An http or https URL without credentials. */
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer | undefined;
  /** From the start to the last byte of the answer. */
  timeoutMs: number;
  /** Most bytes of the answer's body. With `none` only the status counts: the body is thrown away, however long it is. */
  maxBytes: number | 'none';
  signal?: AbortSignal | undefined;
}

export interface OutboundAnswer {
  status: number;
  /** By names in lower case; what came several times is joined by commas. */
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Sends one request to an address that a customer gave, and follows no redirect: the 3xx is the answer. Throws
 * `OutboundError` and nothing else.
 */
export type SendRequest = (request: OutboundRequest) => Promise<OutboundAnswer>;

/** Requests to customers' addresses, over connections that are kept for the next request to the same place. */
export function createOutboundHttp(guard: AddressGuard): { send: SendRequest; close(): Promise<void> } {
  const open = buildConnector({ lookup: guard.lookup, timeout: 10_000 });
  const agent = new Agent({
    connect: (options, callback) => {
      if (guard.isOpenHost(options.hostname)) return open(options, callback);
      callback(new OutboundError('blocked_address', `${options.hostname} may not be reached.`), null);
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return { send: (request) => send(agent, request), close: () => agent.destroy() };
}

async function send(dispatcher: Dispatcher, request: OutboundRequest): Promise<OutboundAnswer> {
  const url = checkUrl(request.url);
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
  const { method, headers, body } = request;
  let connected = false;
  try {
    const answer = await undiciRequest(url, { dispatcher, method, headers, body: body ?? null, signal });
    connected = true;
    const read =
      request.maxBytes === 'none' ? await dropBody(answer.body) : await readBody(answer.body, request.maxBytes);
    return { status: answer.statusCode, headers: joined(answer.headers), body: read };
  } catch (error) {
    if (request.signal?.aborted) throw new OutboundError('aborted', 'The request was given up.');
    if (timeout.aborted) {
      throw new OutboundError('timeout', `${url.host} did not answer within ${request.timeoutMs / 1000} seconds.`);
    }
    throw translated(error, url.host, connected);
  }
}

/** Throws `invalid_request` where a URL is none that a request can be sent to. */
function checkUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new OutboundError('invalid_request', 'The URL must be an http:// or https:// URL.');
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('invalid_request', 'The URL must hold no user name and no password.');
  return url;
}

/**
 * Reads a short body away, so that its connection can be used again, and ends the connection of a longer one. It waits for
 * that, so that who sends so many requests at a time has no more connections, however slowly they are answered.
 */
async function dropBody(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  await body.dump({ limit: DROPPED_BYTES }).catch(() => undefined);
  return Buffer.alloc(0);
}

const DROPPED_BYTES = 65_536;

async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) throw new OutboundError('response_too_large', `The answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const joined = (headers: Record<string, string | string[] | undefined>) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );

const INVALID = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']);
/** Codes for what broke on a connection that was there. */
const LOST = /^(UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ECONNRESET|EPIPE|HPE_.*)$/;
const UNCONNECTED: Record<string, string> = {
  ENOTFOUND: 'its name is not known',
  ECONNREFUSED: 'it refuses connections',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
};

function translated(error: unknown, host: string, connected: boolean): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code = '', message } = error as { code?: string; message: string };
  const cause = { cause: error };
  if (INVALID.has(code)) return new OutboundError('invalid_request', `The request can not be sent: ${message}.`);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new OutboundError('response_too_large', `The headers of ${host} are too large.`, cause);
  if (connected || LOST.test(code)) return new OutboundError('connection_lost', `${host} broke off its answer.`, cause);
  return new OutboundError(
    'connect_failed',
    `No connection to ${host}: ${UNCONNECTED[code] ?? (code || 'it failed')}.`,
    cause,
  );
}
