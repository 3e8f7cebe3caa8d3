import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Operation, RequestParts } from './contract.ts';
import type { RequestContext } from './handler.ts';
import { filesOf } from './multipart.ts';
import type { Principal } from './principal.ts';

/** The client's own ID of a request is given back under this name. Anything else is left out. */
const CLIENT_ID = 'X-Client-Request-Id';
const OF_CLIENT = /^[\x21-\x7e]{1,128}$/;

/** One request and what becomes of it. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string = randomUUID().replaceAll('-', '');
  /** Sent with whatever is answered. */
  readonly headers: Record<string, string>;
  operation: Operation | undefined;
  /** Asks again who sent it. */
  recognize: (() => Principal | undefined | Promise<Principal | undefined>) | undefined;
  /** Read at once: a socket that was closed knows it no more. */
  readonly peer: string;
  #gone: AbortController | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.peer = request.socket.remoteAddress ?? '';
    this.headers = { 'X-Request-Id': this.requestId, 'Cache-Control': 'no-store' };
    const theirs = request.headers['x-client-request-id'] ?? request.headers['x-request-id'];
    if (theirs !== undefined && OF_CLIENT.test(String(theirs))) this.headers[CLIENT_ID] = String(theirs);
  }

  /** Aborted when the client has gone or its key is no longer good. Made when first asked for: most never ask. */
  get gone(): AbortController {
    if (this.#gone) return this.#gone;
    const gone = new AbortController();
    this.#gone = gone;
    if (this.response.destroyed) gone.abort();
    else this.response.once('close', () => gone.abort());
    return gone;
  }
}

/** What the handler is told of the one who asks. */
export class Caller implements RequestContext {
  readonly workspaceId: string;
  readonly key: RequestContext['key'];
  readonly requestId: string;
  readonly #exchange: Exchange;
  readonly #edge: { trustProxy: boolean; draining: AbortSignal };

  constructor(exchange: Exchange, principal: Principal, edge: { trustProxy: boolean; draining: AbortSignal }) {
    this.workspaceId = principal.workspaceId;
    this.key = { id: principal.keyId, hash: principal.hash, permissions: principal.permissions };
    this.requestId = exchange.requestId;
    this.#exchange = exchange;
    this.#edge = edge;
  }

  get address(): string {
    return addressOf(this.#exchange, this.#edge.trustProxy);
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#exchange.gone.signal, this.#edge.draining]);
  }
}

/** Behind a proxy the client is the last address that the proxy has written down. IPv4 comes as such, also by IPv6. */
function addressOf({ request, peer }: Exchange, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined;
  const last = String(forwarded ?? '')
    .split(',')
    .at(-1)!
    .trim();
  return (isIP(last) ? last : peer).replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The checked parts as the handler reads them: headers by their names in the contract. */
export function inputOf(request: IncomingMessage, operation: Operation, parts: RequestParts): object {
  const headers: Record<string, unknown> = {};
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'header') continue;
    const value = parts.headers[parameter.name.toLowerCase()];
    if (value !== undefined) headers[parameter.name] = value;
  }
  const body = operation.body?.types.includes('multipart/form-data') ? filesOf(request) : parts.body;
  return { path: parts.params, query: parts.query, headers, body };
}

/** The path and the query of a request target, which may be a whole URL. */
export function splitUrl(target: string): [path: string, search: string] {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '');
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

/** Sends an answer whole. A body is JSON; without one nothing is sent. */
export function write(response: ServerResponse, status: number, headers: Record<string, string>, body: unknown): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': length }).end(text);
}
