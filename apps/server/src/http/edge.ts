import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { ServiceError } from '../service-error.ts';
import type { Operation } from './contract.ts';
import { errorAnswer } from './errors.ts';
import { sendEventStream } from './event-stream.ts';
import { contextOf, type Exchange, inputOf, newExchange, splitUrl, write } from './exchange.ts';
import type { Handlers, OperationId, RequestContext, StreamFrame } from './handler.ts';
import type { Metrics } from './metrics.ts';
import type { Authenticate, Principal } from './principal.ts';
import type { RateLimit } from './rate-limit.ts';
import { createRequestReader, type RequestReader } from './read-request.ts';
import { type MarkedPlace, requestFault } from './request-fault.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import type { RequestParts, Validator } from './validator.ts';

export interface EdgeOptions {
  validator: Validator;
  marked(operation: Operation): MarkedPlace[];
  handlers: Partial<Handlers>;
  authenticate: Authenticate;
  rateLimit: RateLimit;
  metrics: Metrics;
  log: Logger;
  /** An answer that breaks the contract is a 500 (`throw`, for tests), or is sent, logged and counted (`log`). */
  validateResponses: 'throw' | 'log';
  trustProxy: boolean;
  draining: AbortSignal;
  /** Called with every operation that was answered and its status. */
  onAnswer?: ((operationId: OperationId, status: number) => void) | undefined;
}

/** Answers one request under the contract's paths. */
export type Edge = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const MEBIBYTE = 1024 * 1024;
/** How often an open stream's key is looked at; with the key's cache a revocation shows within a second. */
const KEY_CHECK_MS = 400;

type Answer = { status: number; body?: unknown; headers?: Record<string, string>; stream?: AsyncIterable<StreamFrame> };
type AnyHandler = (input: object, context: RequestContext) => Promise<Answer>;

interface Route {
  operation: Operation;
  reader: RequestReader;
  marked: MarkedPlace[];
  handler: AnyHandler;
}

const answerNotImplemented: AnyHandler = async () => {
  throw new ServiceError('not_implemented', 'This operation is not implemented yet.');
};

/** The way of a request: route, key, quota, permission, validation, handler, answer. */
export function createEdge(options: EdgeOptions): Edge {
  const { validator, authenticate, rateLimit, metrics, draining } = options;
  const routes = new RouteTable<Route>();
  for (const operation of validator.operations) {
    routes.add(operation.method, operation.path, {
      operation,
      reader: createRequestReader(operation, (operation.id === ('startBatch' as OperationId) ? 8 : 2) * MEBIBYTE),
      marked: options.marked(operation),
      handler: (options.handlers[operation.id] as AnyHandler | undefined) ?? answerNotImplemented,
    });
  }

  async function validate({ operation, marked }: Route, parts: RequestParts): Promise<void> {
    try {
      await validator.request(operation, parts);
    } catch (error) {
      throw requestFault(error, operation, marked);
    }
  }

  async function carryOut(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const [path, search] = splitUrl(request.url ?? '/');
    const match = matchPath(routes, path);
    if (!match) throw new ServiceError('not_found', 'There is nothing at this path.');
    const allow = allowedMethods(match.route.methods);
    if (request.method === 'OPTIONS')
      return write(exchange.response, 204, { ...exchange.headers, Allow: allow }, undefined);
    const route = match.route.methods.get(request.method === 'HEAD' ? 'GET' : (request.method ?? ''));
    if (!route)
      throw new ServiceError('method_not_allowed', `This path takes ${allow}.`, { headers: { Allow: allow } });
    exchange.operation = route.operation;
    const key = request.headers['x-api-key'];
    const principal = typeof key === 'string' ? await authenticate(key) : undefined;
    if (!principal) throw new ServiceError('unauthorized', 'The X-API-Key header is missing or holds no valid key.');
    exchange.headers = { ...exchange.headers, ...rateLimit(principal.keyId) };
    requirePermission(principal, route.operation);
    const parts = await route.reader.read(request, match.params, search);
    await validate(route, parts);
    const context = contextOf(exchange, principal, options);
    const answer = await route.handler(inputOf(route.operation, parts), context);
    const { status, body, headers, stream } = answer;
    if (stream && request.method !== 'HEAD') await openStream(exchange, stream, key as string);
    else if (stream) send(exchange, status, { 'Content-Type': 'text/event-stream' }, undefined);
    else send(exchange, status, headers, body);
  }

  async function openStream(exchange: Exchange, stream: AsyncIterable<StreamFrame>, key: string): Promise<void> {
    const { response, headers } = exchange;
    const check = setInterval(async () => {
      // Without the database nothing is known of the key; the stream stays until something is.
      const principal = await Promise.resolve(authenticate(key)).catch(() => 'unknown');
      if (!principal) exchange.gone.abort();
    }, KEY_CHECK_MS);
    try {
      await sendEventStream(response, stream, { signal: exchange.gone.signal, draining, headers });
    } finally {
      clearInterval(check);
    }
  }

  function send(exchange: Exchange, status: number, headers: Record<string, string> | undefined, body: unknown): void {
    const { operation, response } = exchange;
    const violation = operation && validator.response(operation, status, body);
    if (violation) {
      metrics.violation(operation);
      options.log.error(
        { requestId: exchange.requestId, operation: operation.id, status, violation },
        'answer breaks the contract',
      );
      if (options.validateResponses === 'throw')
        throw new ServiceError('internal_error', `The answer breaks the contract: ${violation}`);
    }
    const all = draining.aborted
      ? { ...exchange.headers, ...headers, Connection: 'close' }
      : { ...exchange.headers, ...headers };
    write(response, status, all, body);
  }

  function fail(exchange: Exchange, error: unknown): void {
    const { response, requestId, operation } = exchange;
    const { status, headers, body } = errorAnswer(error);
    if (status >= 500 && body.code !== 'not_implemented')
      options.log.error({ requestId, operation: operation?.id, err: error }, 'request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    try {
      send(exchange, status, headers, body);
    } catch (violation) {
      const answer = errorAnswer(violation);
      write(response, answer.status, exchange.headers, answer.body);
    }
  }

  return async (request, response) => {
    const startedAt = performance.now();
    const exchange = newExchange(request, response);
    try {
      await carryOut(exchange);
    } catch (error) {
      fail(exchange, error);
    }
    const { operation } = exchange;
    if (!operation) return;
    metrics.answered(operation, response.statusCode, (performance.now() - startedAt) / 1000);
    options.onAnswer?.(operation.id, response.statusCode);
  };
}

function requirePermission({ permissions }: Principal, { permission }: Operation): void {
  if (permission === 'authenticated' || permissions.includes(permission) || permissions.includes('*')) return;
  throw new ServiceError('forbidden', `This key lacks the permission ${permission}.`);
}

function allowedMethods(methods: Map<string, unknown>): string {
  const head = methods.has('GET') ? ['HEAD'] : [];
  return [...methods.keys(), ...head, 'OPTIONS'].join(', ');
}

function matchPath<T>(routes: RouteTable<T>, path: string): RouteMatch<T> | undefined {
  try {
    return routes.match(path);
  } catch {
    throw new ServiceError('invalid_request', 'The path is not encoded as URLs are.', {
      details: [{ path: '/path', message: 'must be percent-encoded UTF-8' }],
    });
  }
}
