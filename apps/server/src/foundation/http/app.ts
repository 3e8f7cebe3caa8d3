import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import express, { type Handler, type Router } from 'express';
import type { Logger } from 'pino';
import { ServiceError } from '../values/service-error.ts';
import type { ValidateResponses } from './answer.ts';
import { type ContractDocument, resolve } from './contract.ts';
import { allowOrigins } from './cross-origin.ts';
import { createEdge } from './edge.ts';
import { errorAnswer } from './errors.ts';
import { Exchange, write } from './exchange.ts';
import type { Handlers, OperationId } from './handler.ts';
import type { Metrics } from './metrics.ts';
import type { OpenStreams } from './open-streams.ts';
import { type NotReady, outsideRoutes, type Warnings } from './outside.ts';
import type { Authenticate, AuthenticateOperator, AuthenticateSession, OpenStream } from './principal.ts';
import type { RateLimit } from './rate-limit.ts';
import { hasBody } from './request-body.ts';
import { markedPlaces } from './request-fault.ts';
import { createValidator, type Validator } from './validator.ts';
import { forValidator } from './validator-contract.ts';

export interface AppOptions {
  contract: ContractDocument;
  /** All of them in a server; operations without one answer 500. */
  handlers: Partial<Handlers>;
  authenticate: Authenticate;
  authenticateSession: AuthenticateSession;
  authenticateOperator?: AuthenticateOperator | undefined;
  openStream: OpenStream;
  /** Where browsers reach the server. */
  publicUrl: string;
  /** Whose scripts may use the server. */
  corsOrigins: readonly string[];
  rateLimit: RateLimit;
  streams: OpenStreams;
  metrics: Metrics;
  log: Logger;
  validateResponses: ValidateResponses;
  /** Whether the client's address is what a proxy says in `X-Forwarded-For`. */
  trustProxy: boolean;
  /** Aborted when the server is about to end: open streams close, connections aren't kept. */
  draining: AbortSignal;
  notReady: NotReady;
  warnings: Warnings;
  /** Routers outside the contract, such as the object store's `/objects`. */
  outside?: { path: string; router: Router }[];
  /** Called after a request that may have changed something. */
  onChange?: (() => void) | undefined;
  /** Called with each operation that was answered, and its status. */
  onAnswer?: (operationId: OperationId, status: number) => void;
}

const require = createRequire(import.meta.url);
const fileOf = (name: string) => pathToFileURL(require.resolve(name));

/** The contract as it is written (`npm run bundle` in openapi/): it leaves no answer open, as the published one does. */
export const loadContract = (): ContractDocument => require('@trunkline/openapi/closed.json') as ContractDocument;

/**
 * The whole HTTP side of the server: the contract's paths, and by Express what lies outside them. Throws where the
 * contract can't be served as it is.
 */
export async function createApp(options: AppOptions): Promise<RequestListener> {
  const { document, validator } = await validatorOf(options.contract);
  const edge = createEdge({
    ...options,
    validator,
    marked: (operation) => markedPlaces(operation, (schema) => resolve(document, schema)),
  });
  const app = express();
  app.disable('x-powered-by');
  // Files have their own; an answer that is made for each request would get one that no other can match.
  app.disable('etag');
  app.use(headersOutside);
  for (const { path, router } of options.outside ?? []) app.use(path, router);
  app.use(outsideRoutes(contractFiles, options));
  app.use((request, response) => edge(request, response));
  const failed = answerError(options.log);
  app.use(failed);
  return allowOrigins(options.corsOrigins, (request, response) => {
    if (!request.url?.startsWith('/v1/')) return app(request, response);
    edge(request, response).catch((error) => failed(error, request, response, () => response.destroy()));
  });
}

/** What was made of a contract serves every app of the process: it takes longer than all else that a start does. */
const validators = new WeakMap<ContractDocument, Promise<{ document: ContractDocument; validator: Validator }>>();

function validatorOf(contract: ContractDocument) {
  let made = validators.get(contract);
  if (!made) {
    const document = forValidator(contract);
    made = createValidator(document).then((validator) => ({ document, validator }));
    validators.set(contract, made);
  }
  return made;
}

const contractFiles = {
  json: fileOf('@trunkline/openapi/openapi.json'),
  yaml: new URL('openapi.yaml', fileOf('@trunkline/openapi/openapi.json')),
  docs: new URL('docs/index.html', fileOf('@trunkline/openapi/openapi.json')),
  guides: new URL('docs/guides/', fileOf('@trunkline/openapi/openapi.json')),
  llms: new URL('docs/llms.txt', fileOf('@trunkline/openapi/openapi.json')),
};

/** What goes with every answer outside the contract. Only uploads bring a body there. */
const headersOutside: Handler = (request, response, next) => {
  response.set(new Exchange(request, response).headers);
  if (request.method !== 'PUT' && hasBody(request)) response.set('Connection', 'close');
  next();
};

/** What went wrong outside the contract, in the same form. Express gives what the client did wrong a status. */
function answerError(log: Logger) {
  return (error: unknown, request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void) => {
    if (response.headersSent) return next(error);
    const exchange = new Exchange(request, response);
    const status = (error as { status?: number }).status ?? 500;
    const known = error instanceof ServiceError || status >= 500;
    const { requestId } = exchange;
    const told = known ? error : new ServiceError('invalid_request', 'The request is malformed.');
    const answer = errorAnswer(told, requestId);
    if (answer.status >= 500) log.error({ requestId, err: error }, 'request failed');
    write(response, answer.status, { ...exchange.headers, ...answer.headers }, answer.body);
  };
}
