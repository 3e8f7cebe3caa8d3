import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from './contract.ts';
import type { RequestContext } from './handler.ts';
import type { Principal } from './principal.ts';
import type { RequestParts } from './validator.ts';

/** One request and what becomes of it. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** Sent with whatever is answered. */
  headers: Record<string, string>;
  operation: Operation | undefined;
  /** Aborted when the client has gone or its key is no longer good. Made when first asked for: most never ask. */
  readonly gone: AbortController;
}

export function newExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const requestId = randomUUID().replaceAll('-', '');
  let gone: AbortController | undefined;
  return {
    request,
    response,
    requestId,
    headers: { 'X-Request-Id': requestId, 'Cache-Control': 'no-store' },
    operation: undefined,
    get gone() {
      if (gone) return gone;
      const controller = new AbortController();
      gone = controller;
      if (response.destroyed) controller.abort();
      else response.once('close', () => controller.abort());
      return controller;
    },
  };
}

/** What the handler is told of the one who asks. */
export function contextOf(
  exchange: Exchange,
  principal: Principal,
  options: { trustProxy: boolean; draining: AbortSignal },
): RequestContext {
  return {
    workspaceId: principal.workspaceId,
    key: { id: principal.keyId, permissions: principal.permissions },
    requestId: exchange.requestId,
    address: addressOf(exchange.request, options.trustProxy),
    get signal() {
      return AbortSignal.any([exchange.gone.signal, options.draining]);
    },
  };
}

/** Behind a proxy the client is the last address that the proxy has written down. */
function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? String(request.headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : '';
  return forwarded || (request.socket.remoteAddress ?? '');
}

/** The checked parts as the handler reads them: headers by their names in the contract. */
export function inputOf(operation: Operation, parts: RequestParts): object {
  const headers: Record<string, unknown> = {};
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'header') continue;
    const value = parts.headers[parameter.name.toLowerCase()];
    if (value !== undefined) headers[parameter.name] = value;
  }
  return { path: parts.params, query: parts.query, headers, body: parts.body };
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
