import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { OutboundError } from './outbound-error.ts';

export interface OutboundRequest {
  /** UUID of the workspace that it is for. */
  workspaceId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** An http or https URL without credentials. */
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer | undefined;
  /** From the start to the last byte of the answer. */
  timeoutMs: number;
  /** Most bytes of the answer's body. With `none` only the status counts: the body is thrown away, and not waited for. */
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

/** For whom a connection is opened: the request that asked for it, as far as undici says. */
const asking = new AsyncLocalStorage<string>();

/** Requests to customers' addresses, over connections that are kept for the next request to the same place. */
export function createOutboundHttp(guard: AddressGuard): { send: SendRequest; close(): Promise<void> } {
  const open = buildConnector({
    lookup: (hostname, options, callback) =>
      guard.lookupFor(asking.getStore() ?? hostname)(hostname, options, callback),
    timeout: 10_000,
  });
  const agent = new Agent({
    connect: (options, callback) => {
      if (guard.isOpenHost(options.hostname)) return open(options, callback);
      callback(new OutboundError('blocked_address', `${options.hostname} may not be reached.`), null);
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: (request) => asking.run(request.workspaceId, () => send(agent, request)),
    close: () => agent.destroy(),
  };
}

/**
 * What undici tells of a request comes here by callbacks: its promises, streams and signals cost more than all the rest. A
 * body that is thrown away has a moment to come to its end, so that its connection can be used again; then the connection is
 * closed, so that who sends so many requests at a time has no more connections, however slowly bodies come.
 */
function send(dispatcher: Dispatcher, request: OutboundRequest): Promise<OutboundAnswer> {
  const { method, headers, body, timeoutMs, maxBytes, signal } = request;
  return new Promise((resolve, reject) => {
    const url = checkUrl(request.url);
    let controller: Dispatcher.DispatchController | undefined;
    let answer: OutboundAnswer | undefined;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let hasEnded = false;

    const end = (error?: unknown) => {
      hasEnded = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      if (!answer || (error && maxBytes !== 'none')) reject(translated(error, url.host, answer !== undefined));
      else resolve({ ...answer, body: Buffer.concat(chunks) });
    };
    /** Ends the connection, and with it the request. */
    const stop = (error: OutboundError) => (controller ? controller.abort(error) : end(error));
    const giveUp = () => stop(new OutboundError('aborted', 'The request was given up.'));
    let timer = setTimeout(
      () => stop(new OutboundError('timeout', `${url.host} did not answer within ${timeoutMs / 1000} seconds.`)),
      timeoutMs,
    );
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted) return giveUp();

    const { origin, pathname, search } = url;
    dispatcher.dispatch(
      { origin, path: `${pathname}${search}`, method, headers, body: body ?? null },
      {
        onRequestStart: (started) => {
          controller = started;
          // While it waited for a connection.
          if (hasEnded) controller.abort(new OutboundError('aborted', 'The request was given up.'));
        },
        onResponseStart: (_controller, status, fields) => {
          if (status < 200) return;
          answer = { status, headers: joined(fields), body: Buffer.alloc(0) };
          if (maxBytes !== 'none') return;
          clearTimeout(timer);
          timer = setTimeout(giveUp, DROPPED_MS);
        },
        onResponseData: (_controller, chunk) => {
          bytes += chunk.length;
          if (maxBytes !== 'none') chunks.push(chunk);
          if (bytes > (maxBytes === 'none' ? DROPPED_BYTES : maxBytes))
            stop(new OutboundError('response_too_large', `The answer is larger than ${maxBytes} bytes.`));
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => end(error),
      },
    );
  });
}

/** So much of a body is read away, and for so long, so that its connection can be used again. */
const DROPPED_BYTES = 65_536;
const DROPPED_MS = 100;

/** Throws `invalid_request` where a URL is none that a request can be sent to. */
function checkUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new OutboundError('invalid_request', 'The URL must be an http:// or https:// URL.');
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('invalid_request', 'The URL must hold no user name and no password.');
  return url;
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return all;
}

const INVALID = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']);
/** Codes for what broke on a connection that was there. */
const LOST = /^(UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|ECONNRESET|EPIPE|HPE_.*)$/;
const UNCONNECTED: Record<string, string> = {
  ENOTFOUND: 'its name is not known',
  ETIMEOUT: 'its name server does not answer',
  ESERVFAIL: 'its name server fails',
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
