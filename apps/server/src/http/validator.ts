import type { Request, RequestHandler, Response } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { type ContractDocument, type Operation, operationsOf } from './contract.ts';
import { isTimestamp } from './timestamp.ts';

/** The parts of a request that the contract speaks of. Defaults and numbers are written into them. */
export interface RequestParts {
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** The declared headers, by lower-case name, and `content-type`. */
  headers: Record<string, unknown>;
  body: unknown;
}

/** express-openapi-validator, told for each operation which it is, so that it searches no path itself. */
export interface Validator {
  operations: Operation[];
  /** Checks a request. Rejects with what express-openapi-validator throws; `requestFault` reads that. */
  request(operation: Operation, parts: RequestParts): Promise<void>;
  /** Checks an answer; returns what is wrong with it, if anything. */
  response(operation: Operation, status: number, body: unknown): string | undefined;
}

interface Metadata {
  expressRoute: string;
  openApiRoute: string;
  pathParams: Record<string, string>;
}

type Middleware = (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void> | void;
type ResponseCheck = (status: number, body: unknown) => string | undefined;

/**
 * Loads the validator with a document that `forValidator` made, and asks it about every operation once, so that a fault
 * of the contract shows at start.
 */
export async function createValidator(document: ContractDocument): Promise<Validator> {
  const found: { violation: string | undefined } = { violation: undefined };
  const stack: RequestHandler[] = OpenApiValidator.middleware({
    apiSpec: document as never,
    validateApiSpec: false,
    validateSecurity: false,
    fileUploader: false,
    validateRequests: { allErrors: true },
    validateResponses: {
      onError: (error) => {
        found.violation = error.message;
      },
    },
    ajvFormats: { mode: 'full' },
    formats: { 'date-time': { type: 'string', validate: isTimestamp } },
    // Without a serializer a Date in an answer is a violation everywhere, not only in nullable fields.
    serDes: [{ format: 'date-time' }, { format: 'date' }],
  }) as never;
  const middleware = (name: string): Middleware => {
    const member = stack.find((each) => each.name === name);
    if (!member) throw new Error(`express-openapi-validator has changed: it has no ${name}.`);
    return member as never;
  };
  await run(middleware('pathParamsMiddleware'), { app: { param: () => undefined } });

  const operations = operationsOf(document);
  const metadata = new Map<Operation, Metadata>();
  const checks = new Map<Operation, ResponseCheck>();
  for (const operation of operations) {
    const url = operation.path.replaceAll(/\{[^}]+\}/g, '-');
    const probe = { method: operation.method, path: url, originalUrl: url, baseUrl: '', headers: {} };
    const asked = { ...probe, app: { enabled: () => false } } as typeof probe & { openapi?: Metadata };
    await run(middleware('metadataMiddleware'), asked);
    if (asked.openapi?.openApiRoute !== operation.path)
      throw new Error(`The validator takes ${operation.path} for ${asked.openapi?.openApiRoute}.`);
    metadata.set(operation, asked.openapi);

    // The validator hooks `json` of a response; the hook of this one is kept and called for every answer.
    const hooked = { statusCode: 200, headersSent: false, getHeaders: () => ({}), json: () => undefined as unknown };
    await run(middleware('responseMiddleware'), asked, hooked, (error) => {
      found.violation = error.message;
    });
    const hook = hooked.json as (body: unknown) => unknown;
    checks.set(operation, (status, body) => {
      found.violation = undefined;
      hooked.statusCode = status;
      hook.call(hooked, body);
      return found.violation;
    });
  }

  const checkRequest = middleware('requestMiddleware');
  return {
    operations,
    request(operation, parts) {
      const openapi = { ...metadata.get(operation), pathParams: parts.params };
      return run(checkRequest, { method: operation.method, path: operation.path, originalUrl: '', ...parts, openapi });
    },
    response(operation, status, body) {
      return undeclared(operation, status, body) ?? checks.get(operation)?.(status, body);
    },
  };
}

/** What the validator itself doesn't look at: anything from 500 up, and which codes a status can bear. */
function undeclared(operation: Operation, status: number, body: unknown): string | undefined {
  if (!operation.statuses.has(status)) return `status ${status} is not declared for ${operation.id}`;
  const codes = operation.statuses.get(status);
  const code = (body as { code?: never } | undefined)?.code;
  return codes && code && !codes.has(code) ? `code ${code} is not declared for ${operation.id} ${status}` : undefined;
}

/** Runs a middleware to its `next`. Those of the validator call it with what they found wrong. */
function run(
  middleware: Middleware,
  request: object,
  response: object = {},
  onLateError: (error: Error) => void = () => undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const next = (error?: unknown) => {
      if (settled) onLateError(error as Error);
      settled = true;
      if (error === undefined) resolve();
      else reject(error);
    };
    middleware(request as Request, response as Response, next);
  });
}
