import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { tracer } from '../observe/tracing.ts';
import type { RoomTaker } from './body-room.ts';
import type { Operation, RequestParts } from './contract.ts';
import type { Cookies } from './cookies.ts';
import type { EventStream } from './event-stream.ts';
import type { RequestContext, Site } from './handler.ts';
import { filesOf } from './multipart.ts';
import { createPace } from './pace.ts';
import type { Principal } from './principal.ts';
import { isComing } from './request-body.ts';

/** The client's own ID of a request is given back under this name. Anything else is left out. */
const CLIENT_ID = 'X-Client-Request-Id';
const OF_CLIENT = /^[\x21-\x7e]{1,128}$/;

/** What goes with every answer: an ID of its own, and that nobody keeps it or takes it for what it doesn't say it is. */
export const baseHeaders = () => ({
  'X-Request-Id': randomUUID().replaceAll('-', ''),
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
});

/** What a request is about, by its UUID, and whether it has made it. */
export interface Subject {
  uuid: string;
  isNew: boolean;
}

/** The headers of what is answered already. */
const sent = Object.freeze({});

/** One request and what becomes of it. */
export class Exchange implements RoomTaker {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Sent with whatever is answered. */
  headers: Record<string, string>;
  operation: Operation | undefined;
  keyId = '';
  workspaceId = '';
  /** What it is about, while tracing is on. */
  subject: Subject | undefined;
  room = 0;
  /** What it was answered with, where that is a stream. */
  stream: EventStream | undefined;
  /** Gives back its share of the streams. */
  leave: (() => void) | undefined;
  /** Asks again who sent it. */
  recognize: (() => Principal | undefined | Promise<Principal | undefined>) | undefined;
  /** What it was sent with: the key, or the token and what it opens. */
  credential = '';
  /** Read at once: a socket that was closed knows it no more. */
  readonly peer: string;
  /** By `performance.now()`, and by `Date.now()` while tracing is on. */
  readonly startedAt = performance.now();
  readonly startedOn = tracer && Date.now();
  #gone: AbortSignal | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.peer = request.socket.remoteAddress ?? '';
    const headers = baseHeaders();
    this.requestId = headers['X-Request-Id'];
    this.headers = headers;
    const theirs = request.headers['x-client-request-id'] ?? request.headers['x-request-id'];
    if (theirs !== undefined && OF_CLIENT.test(String(theirs))) this.headers[CLIENT_ID] = String(theirs);
  }

  /** Once the head of a stream is sent: there are many, and they stay for long. */
  forgetHead(): void {
    this.headers = sent;
  }

  /** Aborted when the client has gone. Made when first asked for: most never ask. */
  get gone(): AbortSignal {
    if (this.#gone) return this.#gone;
    const gone = new AbortController();
    this.#gone = gone.signal;
    if (this.response.destroyed) gone.abort();
    else this.response.once('close', () => gone.abort());
    return gone.signal;
  }
}

interface EdgeOfCaller {
  trustProxy: boolean;
  draining: AbortSignal;
  cookies: Cookies;
}

/** What the handler is told of the one who asks. */
export class Caller implements RequestContext {
  readonly workspaceId: string;
  readonly key: RequestContext['key'];
  readonly callId: string | undefined;
  readonly sessionId: string | undefined;
  readonly memberId: string | undefined;
  readonly requestId: string;
  readonly #exchange: Exchange;
  readonly #edge: EdgeOfCaller;

  constructor(exchange: Exchange, principal: Principal, edge: EdgeOfCaller) {
    this.workspaceId = principal.isStranger || principal.isOperator ? '' : principal.workspaceId;
    this.key = { id: principal.keyId, hash: principal.hash, permissions: principal.permissions };
    this.callId = principal.callId;
    this.sessionId = principal.sessionId;
    this.memberId = principal.memberId;
    this.requestId = exchange.requestId;
    this.#exchange = exchange;
    this.#edge = edge;
  }

  get address(): string {
    return addressOf(this.#exchange, this.#edge.trustProxy);
  }

  site(): Site {
    return this.#edge.cookies.siteOf(this.#exchange.request);
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#exchange.gone, this.#edge.draining]);
  }
}

/** Behind a proxy the client is the last address that the proxy has written down. IPv4 comes as such, also by IPv6. */
export function addressOf({ request, peer }: Exchange, trustProxy: boolean): string {
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

/** So long what still comes of a request is let through, once it has its answer. */
const LINGER_MS = 2000;
/** Bytes that are let through of all such requests: what nobody wants is to cost the others little. */
const LET_THROUGH_A_MS = 32_768;

/**
 * Sends an answer whole. A body is JSON; without one nothing is sent. The connection closes where the request has not
 * come whole: nobody waits for the rest.
 */
export function write(response: ServerResponse, status: number, headers: Record<string, string>, body: unknown): void {
  const isEarly = isComing(response.req);
  if (isEarly) headers['Connection'] = 'close';
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (text !== undefined) {
    headers['Content-Type'] = 'application/json';
    headers['Content-Length'] = String(Buffer.byteLength(text));
  }
  response.writeHead(status, headers);
  if (isEarly) endAfterRequest(response, text);
  else response.end(text);
}

/** A client that is still sending when its connection closes may not see the answer, so it may go on for a moment. */
function endAfterRequest(response: ServerResponse, text: string | undefined): void {
  if (text === undefined) response.flushHeaders();
  else response.write(text);
  const end = () => {
    clearTimeout(late);
    response.end();
  };
  const late = setTimeout(end, LINGER_MS);
  response.req.once('end', end).once('close', end).on('data', letThrough).resume();
}

const letThroughIn = createPace(0);

function letThrough(this: IncomingMessage, { length }: Uint8Array): void {
  this.pause();
  setTimeout(() => this.resume(), letThroughIn('', length / LET_THROUGH_A_MS));
}
