import * as OpenApiValidator from 'express-openapi-validator';
import { type ContractDocument, type Operation, operationsOf, type Parameter } from './contract.ts';
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

/** What the validator keeps of an operation, and wants to see in each request. */
interface Metadata {
  openApiRoute: string;
  schema: { parameters?: Parameter[] };
}

type Next = (error?: unknown) => void;
type Middleware = (request: object, response: object, next: Next) => unknown;

interface Known {
  metadata: Metadata;
  /** The same without the parameters that it would parse in vain, once it has compiled them all. */
  afterwards: Metadata;
  compiledFor: Set<string>;
  checkResponse(status: number, body: unknown): string | undefined;
}

/** A request as far as the validator looks at it. Its own properties have one shape, which keeps it fast. */
class CheckedRequest {
  readonly method: string;
  readonly path: string;
  /** It would parse the query in here again. */
  readonly originalUrl = '';
  readonly openapi: object;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
  params: Record<string, string>;
  query: Record<string, unknown>;

  constructor(operation: Operation, parts: RequestParts, { openApiRoute, ...metadata }: Metadata) {
    this.method = operation.method;
    this.path = operation.path;
    this.openapi = { ...metadata, openApiRoute, pathParams: parts.params };
    this.headers = parts.headers;
    this.body = parts.body;
    this.params = parts.params;
    this.query = parts.query;
  }
}

/**
 * Loads the validator with a document that `forValidator` made, and asks it about every operation once, so that a fault
 * of the contract shows at start.
 */
export async function createValidator(document: ContractDocument): Promise<Validator> {
  const found: { violation: string | undefined } = { violation: undefined };
  const note = (error: { message: string }) => {
    found.violation = error.message;
  };
  const middleware = load(document, note);
  await run(middleware('pathParamsMiddleware'), { app: { param: () => undefined } });

  const operations = operationsOf(document);
  const known = new Map<Operation, Known>();
  for (const operation of operations) {
    const url = operation.path.replaceAll(/\{[^}]+\}/g, '-');
    const probe = { method: operation.method, path: url, originalUrl: url, baseUrl: '', headers: {} };
    const asked: typeof probe & { openapi?: Metadata } = { ...probe, ...{ app: { enabled: () => false } } };
    await run(middleware('metadataMiddleware'), asked);
    const metadata = asked.openapi;
    if (metadata?.openApiRoute !== operation.path)
      throw new Error(`The validator takes ${operation.path} for ${metadata?.openApiRoute}.`);

    // The validator hooks `json` of a response; the hook of this one is kept and called for every answer.
    const hooked = { statusCode: 200, headersSent: false, getHeaders: () => ({}), json: () => undefined as unknown };
    await run(middleware('responseMiddleware'), asked, hooked, (error) => note(error as Error));
    const hook = hooked.json as (body: unknown) => unknown;
    known.set(operation, {
      metadata,
      afterwards: { ...metadata, schema: withoutScalars(metadata.schema) },
      compiledFor: new Set(),
      checkResponse(status, body) {
        found.violation = undefined;
        hooked.statusCode = status;
        hook.call(hooked, body);
        return found.violation;
      },
    });
  }

  const checkRequest = middleware('requestMiddleware');
  return {
    operations,
    async request(operation, parts) {
      const { metadata, afterwards, compiledFor } = known.get(operation)!;
      const type = String(parts.headers['content-type']);
      if (compiledFor.has(type)) return run(checkRequest, new CheckedRequest(operation, parts, afterwards));
      await run(checkRequest, new CheckedRequest(operation, parts, metadata));
      compiledFor.add(type);
    },
    response(operation, status, body) {
      return undeclared(operation, status, body) ?? known.get(operation)?.checkResponse(status, body);
    },
  };
}

/** Returns a way to the middlewares of express-openapi-validator by their names. */
function load(document: ContractDocument, onViolation: (error: Error) => void): (name: string) => Middleware {
  const stack: Middleware[] = OpenApiValidator.middleware({
    apiSpec: document as never,
    validateApiSpec: false,
    validateSecurity: false,
    fileUploader: false,
    validateRequests: { allErrors: true },
    validateResponses: { onError: onViolation },
    ajvFormats: { mode: 'full' },
    formats: { 'date-time': { type: 'string', validate: isTimestamp } },
    // Without a serializer a Date in an answer is a violation everywhere, not only in nullable fields.
    serDes: [{ format: 'date-time' }, { format: 'date' }],
  }) as never;
  return (name) => {
    const member = stack.find((each) => each.name === name);
    if (!member) throw new Error(`express-openapi-validator has changed: it has no ${name}.`);
    return member;
  };
}

/** A text is given to the validator as it is; only lists and objects must be parsed from their text. */
const withoutScalars = (schema: Metadata['schema']): Metadata['schema'] => ({
  ...schema,
  parameters: (schema.parameters ?? []).filter(
    (parameter) =>
      !/^(string|integer|number|boolean)$/.test(String(parameter.schema.type ?? parameter.schema['x-eov-type'])),
  ),
});

/** What the validator itself doesn't look at: anything from 500 up, and which codes a status can bear. */
function undeclared(operation: Operation, status: number, body: unknown): string | undefined {
  if (!operation.statuses.has(status)) return `status ${status} is not declared for ${operation.id}`;
  const codes = operation.statuses.get(status);
  if (!codes) return undefined;
  const code = (body as { code?: never } | undefined)?.code;
  return code && !codes.has(code) ? `code ${code} is not declared for ${operation.id} ${status}` : undefined;
}

/** Runs a middleware to its `next`. Those of the validator call it with what they found wrong. */
function run(middleware: Middleware, request: object, response: object = {}, onLateError?: Next): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;
    middleware(request, response, (error) => {
      if (settled) onLateError?.(error);
      settled = true;
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}
