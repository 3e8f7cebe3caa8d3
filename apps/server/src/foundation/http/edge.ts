import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { tracer } from '../observe/tracing.ts';
import { canonicalBytes } from '../values/canonical-base64.ts';
import { toId } from '../values/ids.ts';
import { ServiceError } from '../values/service-error.ts';
import { type Answer, type AnswerOptions, createAnswering } from './answer.ts';
import { type BodyRoom, createBodyRoom } from './body-room.ts';
import type { Operation, RequestParts } from './contract.ts';
import { type Cookies, createCookies } from './cookies.ts';
import { sealCursor, takesCursor } from './cursor.ts';
import { addressOf, Caller, Exchange, inputOf, splitUrl, write } from './exchange.ts';
import type { Handlers, OperationId, RequestContext } from './handler.ts';
import { createLoopShare } from './loop-share.ts';
import type { OpenStreams } from './open-streams.ts';
import { createLargeBodies } from './parse-in-turns.ts';
import type { Authenticate, AuthenticateOperator, AuthenticateSession, OpenStream, Principal } from './principal.ts';
import type { RateLimit } from './rate-limit.ts';
import { createRequestReader, type RequestReader } from './read-request.ts';
import { createRefusalTurns } from './refusal-turns.ts';
import { createBodyReader } from './request-body.ts';
import { type MarkedPlace, requestFault } from './request-fault.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import { subjectOf, traceRequest } from './trace-request.ts';

export interface EdgeOptions extends AnswerOptions {
  marked(operation: Operation): MarkedPlace[];
  handlers: Partial<Handlers>;
  authenticate: Authenticate;
  authenticateSession: AuthenticateSession;
  /** Without it there is nothing at the paths that are for whoever runs the server. */
  authenticateOperator?: AuthenticateOperator | undefined;
  openStream: OpenStream;
  /** Where browsers reach the server: whether its cookies are bound to https, and which pages may send them. */
  publicUrl: string;
  rateLimit: RateLimit;
  streams: OpenStreams;
  trustProxy: boolean;
  /** Called after a request that may have changed something. */
  onChange?: (() => void) | undefined;
  /** Called with each operation that was answered, and its status. */
  onAnswer?: ((operationId: OperationId, status: number) => void) | undefined;
}

/** Answers one request under the contract's paths. */
export type Edge = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const MEBIBYTE = 1024 * 1024;
const MAX_BODY = 2 * MEBIBYTE;
/** Those that take more (api.md, "Limits of a request"). */
const MAX_BODY_OF: Partial<Record<OperationId, number>> = { startBatch: 8 * MEBIBYTE };

interface Credential {
  recognize: Exchange['recognize'];
  /** The same for all streams that end together. */
  credential: string;
  isCookie?: true;
  /** What a request that nobody is known by is refused with. */
  fault: () => ServiceError;
}

type AnyHandler = (input: object, context: RequestContext) => Promise<Answer>;

interface Route {
  operation: Operation;
  reader: RequestReader;
  marked: MarkedPlace[];
  handler: AnyHandler;
  listsByCursor: boolean;
  isStream: boolean;
}

const withoutHandler: AnyHandler = async () => {
  throw new Error('This operation has no handler.');
};

/** The way of a request: route, key, quota, permission, validation, handler, answer. */
export function createEdge(options: EdgeOptions): Edge {
  const { validator, rateLimit, streams, metrics } = options;
  const cookies = createCookies(options.publicUrl);
  const [edge, credentialOf] = [{ ...options, cookies }, createCredentials(options, cookies)];
  const answering = createAnswering(options);
  const room = createBodyRoom();
  const share = createLoopShare();
  const bodies = createBodyReader(room, share);
  const large = createLargeBodies(share);
  const turn = createRefusalTurns(Math.max(MAX_BODY, ...Object.values(MAX_BODY_OF)));
  const routes = new RouteTable<Route>();
  for (const operation of validator.operations.filter(isServedBy(options))) {
    const marked = options.marked(operation);
    routes.add(operation.method, operation.path, {
      operation,
      reader: createRequestReader(operation, MAX_BODY_OF[operation.id] ?? MAX_BODY, bodies, large, marked),
      marked,
      handler: (options.handlers[operation.id] as AnyHandler | undefined) ?? withoutHandler,
      listsByCursor: takesCursor(operation),
      isStream: operation.streams,
    });
  }

  async function validate({ operation, marked }: Route, parts: RequestParts): Promise<void> {
    try {
      await validator.request(operation, parts);
    } catch (error) {
      throw requestFault(error, operation, marked, parts.body);
    }
  }

  async function carryOut(exchange: Exchange): Promise<void> {
    const { request, response, headers } = exchange;
    const [path, search] = splitUrl(request.url ?? '/');
    const match = matchPath(routes, path);
    if (!match) throw new ServiceError('not_found', 'There is nothing at this path.');
    const { methods } = match.route;
    if (request.method === 'OPTIONS') return write(response, 204, { ...headers, Allow: allowed(methods) }, undefined);
    const route = methods.get(request.method === 'HEAD' ? 'GET' : (request.method ?? ''));
    if (!route) throw methodNotAllowed(allowed(methods));
    exchange.operation = route.operation;

    const [query, token] = route.isStream ? withoutToken(search) : [search, undefined];
    const sent = credentialOf(exchange, route.operation, path, token);
    exchange.recognize = sent.recognize;
    if (route.isStream) exchange.credential = sent.credential;
    const known = sent.recognize?.();
    let principal = known instanceof Promise ? await known : known;
    if (!principal) throw sent.fault();
    if (principal.sessionId !== undefined && sent.isCookie) cookies.refuseForeign(request, route.isStream);
    exchange.keyId = principal.keyId;
    exchange.workspaceId = principal.workspaceId;
    const waitMs = rateLimit(principal, headers);
    if (waitMs > 0) principal = await waitForTurn(exchange, waitMs, sent.fault);
    requirePermission(principal, route.operation, match.params);

    room.refuseMore(exchange);
    const read = route.reader.read(exchange, match.params, query);
    const parts = read instanceof Promise ? await read : read;
    await validate(route, parts);
    const opensStream = route.isStream && request.method !== 'HEAD';
    if (opensStream) exchange.leave = streams.enter(principal);
    const context = new Caller(exchange, principal, edge);
    const handle = () => route.handler(inputOf(request, route.operation, parts), context);
    const answer = await (opensStream ? streams.inTurn(principal.workspaceId, handle) : handle());
    if (tracer) exchange.subject = subjectOf(request.method, match.params, answer);
    if (route.listsByCursor) sealCursor(route.operation, parts, answer);
    if (answer.stream && opensStream) answering.openStream(exchange, answer.stream, finish);
    else {
      // Of many at once all may have been let in before the first answer that nobody reads. What was changed is told.
      if (route.operation.method === 'GET') room.refuseMore(exchange);
      answering.answer(exchange, answer);
    }
  }

  /** Once all is sent. */
  function finish(exchange: Exchange): void {
    exchange.leave?.();
    const { operation, response, startedAt, startedOn } = exchange;
    if (!operation) return;
    metrics.answered(operation, response.statusCode, (performance.now() - startedAt) / 1000);
    if (tracer) traceRequest(tracer, exchange, startedOn ?? Date.now());
    if (operation.method !== 'GET' && response.statusCode < 400) options.onChange?.();
    options.onAnswer?.(operation.id, response.statusCode);
  }

  return async (request, response) => {
    const exchange = new Exchange(request, response);
    try {
      await carryOut(exchange);
    } catch (error) {
      room.giveBack(exchange);
      await turn(exchange, error);
      answering.fail(exchange, error);
    } finally {
      giveBackRoom(room, exchange);
      if (!exchange.stream) finish(exchange);
    }
  };
}

/** Where nobody is known as the operator, what is for operators is not there. */
const isServedBy =
  ({ authenticateOperator }: EdgeOptions) =>
  ({ permission }: Operation) =>
    permission !== 'operator' || authenticateOperator !== undefined;

/** Says what a request bears to be known by: a key before a token, and that before a cookie, which browsers send unasked. */
function createCredentials(options: EdgeOptions, cookies: Cookies) {
  const { authenticate, authenticateSession, authenticateOperator, openStream } = options;
  return (exchange: Exchange, operation: Operation, path: string, token: string | undefined): Credential => {
    const { request } = exchange;
    if (operation.permission === 'anyone') {
      const stranger = strangerAt(addressOf(exchange, options.trustProxy));
      return { recognize: () => stranger, credential: '', fault: noKey };
    }
    const key = request.headers['x-api-key'] ?? basicPassword(request, operation);
    if (operation.permission === 'operator')
      return { recognize: () => authenticateOperator!(String(key ?? '')), credential: '', fault: noKey };
    if (typeof key === 'string') return { recognize: () => authenticate(key), credential: key, fault: noKey };
    if (token !== undefined)
      return { recognize: openStream(token, path), credential: `${token} ${path}`, fault: noToken };
    const secret = cookies.secretIn(request);
    if (secret === undefined) return { recognize: undefined, credential: '', fault: noKey };
    return { recognize: () => authenticateSession(secret), credential: secret, isCookie: true, fault: noSession };
  };
}

/** The key may be revoked meanwhile, a member get another role, and the client may go, who would send its request again. */
async function waitForTurn(
  { request, recognize }: Exchange,
  ms: number,
  fault: () => ServiceError,
): Promise<Principal> {
  await sleep(ms);
  const principal = request.socket.destroyed ? undefined : await recognize?.();
  if (!principal) throw fault();
  return principal;
}

/** At once, or when the client has taken the answer: until then it takes memory too. */
function giveBackRoom(room: BodyRoom, exchange: Exchange): void {
  const { request, response, stream } = exchange;
  const { socket } = request;
  const waiting = stream || response.destroyed || socket.destroyed ? 0 : response.writableLength;
  room.keep(exchange, waiting);
  if (waiting === 0) return;
  const over = () => {
    room.giveBack(exchange);
    socket.off('close', over);
  };
  response.once('close', over);
  // Node 22 does not close one with its connection that waits for the answers before it (pipelining).
  if (!response.socket) socket.setMaxListeners(0).once('close', over);
}

const noKey = () => new ServiceError('unauthorized', 'The X-API-Key header is missing or holds no valid key.');
const noSession = () => new ServiceError('unauthorized', 'The session has ended. Sign in again.');
const noToken = () =>
  new ServiceError('unauthorized', 'The streamToken does not open this stream, or not any more. Get a new one.');

/** Who sends a request for which nobody need be known: its address counts as their key. */
const strangerAt = (address: string): Principal => ({
  ...{ keyId: address, hash: '', workspaceId: address, permissions: [], isStranger: true },
});

/** The query of a stream without its token, which nothing behind this needs to see. */
function withoutToken(search: string): [search: string, token: string | undefined] {
  const query = new URLSearchParams(search);
  const token = query.get('streamToken') ?? undefined;
  if (token === undefined) return [search, token];
  query.delete('streamToken');
  return [query.toString(), token];
}

/** What stands for a key in the credentials of RFC 7617, where the operation takes them. */
function basicPassword({ headers: { authorization } }: IncomingMessage, { openedBy }: Operation): string | undefined {
  if (!openedBy.has('basic')) return undefined;
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '') ?? [];
  const decoded = encoded && canonicalBytes(encoded, 'base64')?.toString();
  return decoded?.slice(decoded.indexOf(':') + 1);
}

function requirePermission(
  { permissions, callId, memberId }: Principal,
  { permission, openedBy }: Operation,
  { roomId, callSid }: Record<string, string>,
): void {
  if (callId !== undefined) {
    const named = roomId ?? callSid?.replace(/\.json$/, '');
    if (openedBy.has('callToken') && (named ?? toId('room', callId)) === toId('room', callId)) return;
    throw new ServiceError('forbidden', "A call's token opens the result and the end of its own call, and no more.");
  }
  if (['anyone', 'authenticated'].includes(permission) || permissions.includes(permission) || permissions.includes('*'))
    return;
  const who = memberId === undefined ? 'This key' : 'Your role';
  throw new ServiceError('forbidden', `${who} lacks the permission ${permission}.`);
}

function allowed(methods: Map<string, unknown>): string {
  const head = methods.has('GET') ? ['HEAD'] : [];
  return [...methods.keys(), ...head, 'OPTIONS'].join(', ');
}

const methodNotAllowed = (allow: string) =>
  new ServiceError('method_not_allowed', `This path takes ${allow}.`, { headers: { Allow: allow } });

function matchPath<T>(routes: RouteTable<T>, path: string): RouteMatch<T> | undefined {
  try {
    return routes.match(path);
  } catch {
    throw new ServiceError('invalid_request', 'The path is not encoded as URLs are.', {
      details: [{ path: '/path', message: 'must be percent-encoded UTF-8' }],
    });
  }
}
