import { createRequire } from 'node:module';
import { parse } from 'node:url';
import * as OpenApiValidator from 'express-openapi-validator';
import { isTimestamp } from '../values/timestamp.ts';
import {
  type ContractDocument,
  type Operation,
  type Parameter,
  type RequestParts,
  resolve,
  type Schema,
} from './contract.ts';

const require = createRequire(import.meta.url);
const ajv = require('express-openapi-validator/dist/framework/ajv/factory.js') as {
  factoryAjv(version: string, options: object): object;
};
const { factoryAjv } = ajv;
/** To shorten what it compiles takes Ajv a third of the time, and V8 runs the long form as fast. */
ajv.factoryAjv = (version, options) => factoryAjv(version, { ...options, code: { optimize: false } });

/** express-openapi-validator as it checks one operation. */
export interface OperationChecks {
  request(parts: RequestParts): Promise<void>;
  response(status: number, body: unknown): string | undefined;
}

/** What the validator keeps of an operation, and wants to see in each request. */
interface Metadata {
  expressRoute: string;
  openApiRoute: string;
  schema: { parameters?: Parameter[] };
}

type Next = (error?: unknown) => void;
type Middleware = (request: object, response: object, next: Next) => unknown;

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

  constructor(operation: Operation, parts: RequestParts, { expressRoute, openApiRoute, schema }: Metadata) {
    this.method = operation.method;
    this.path = operation.path;
    this.openapi = { expressRoute, openApiRoute, schema, pathParams: parts.params };
    this.headers = parts.headers;
    this.body = parts.body;
    this.params = parts.params;
    this.query = parts.query;
  }
}

/**
 * Loads express-openapi-validator, and asks it about every operation once, so that a fault of the contract shows at
 * start and no request needs a search.
 *
 * @param allErrors whether it goes on after the first fault
 */
export async function loadChecks(
  document: ContractDocument,
  operations: readonly Operation[],
  allErrors: boolean,
): Promise<Map<Operation, OperationChecks>> {
  await spendUrlParseWarning();
  leaveContractUnwalked();
  leaveContractUnread();
  const found: { violation: string | undefined } = { violation: undefined };
  const note = (error: { message: string }) => {
    found.violation = error.message;
  };
  const middleware = load(document, allErrors, note);
  const checkRequest = middleware('requestMiddleware');
  await run(middleware('pathParamsMiddleware'), { app: { param: () => undefined } });

  const checks = new Map<Operation, OperationChecks>();
  for (const operation of operations) {
    const url = operation.path.replaceAll(/\{[^}]+\}/g, '-');
    const probe = { method: operation.method, path: url, originalUrl: url, baseUrl: '', headers: {} };
    const asked: typeof probe & { openapi?: Metadata } = { ...probe, ...{ app: { enabled: () => false } } };
    await run(middleware('metadataMiddleware'), asked);
    const metadata = asked.openapi;
    if (metadata?.openApiRoute !== operation.path)
      throw new Error(`The validator takes ${operation.path} for ${metadata?.openApiRoute}.`);
    const afterwards = { ...metadata, schema: withoutScalars(metadata.schema) };
    const compiledFor = new Set<string>();

    // The validator hooks `json` of a response; the hook of this one is kept and called for every answer.
    const hooked = { statusCode: 200, headersSent: false, getHeaders: () => ({}), json: () => undefined as unknown };
    await run(middleware('responseMiddleware'), asked, hooked, (error) => note(error as Error));
    const hook = hooked.json as (body: unknown) => unknown;
    checks.set(operation, {
      async request(parts) {
        const type = String(parts.headers['content-type']);
        if (compiledFor.has(type)) return run(checkRequest, new CheckedRequest(operation, parts, afterwards));
        await run(checkRequest, new CheckedRequest(operation, parts, metadata));
        compiledFor.add(type);
      },
      response(status, body) {
        found.violation = undefined;
        hooked.statusCode = status;
        hook.call(hooked, body);
        return found.violation;
      },
    });
  }
  return checks;
}

/**
 * The validator calls `url.parse` in each request, and until that has warned once that it is deprecated, Node walks the
 * stack to see whether to warn: a twentieth of the request. So it warns here, unheard. It does for callers outside
 * node_modules only; nothing of ours may stand on the stack, since a published server lies inside.
 */
async function spendUrlParseWarning(): Promise<void> {
  const { noDeprecation = false } = process;
  process.noDeprecation = true;
  await Promise.resolve('').then(parse);
  process.noDeprecation = noDeprecation;
}

/**
 * What the validator compiles has the whole contract in it, for its references to lead to, and each time Ajv walks all of
 * that for an `$id`, of which there is none: half of the time that it takes. So Ajv is told to walk what has other names.
 */
function leaveContractUnwalked(): void {
  const ofValidator = createRequire(require.resolve('express-openapi-validator'));
  const { skipKeywords } = ofValidator('json-schema-traverse') as { skipKeywords: Record<string, boolean> };
  Object.assign(skipKeywords, { paths: true, components: true });
}

interface Preprocessor {
  apiDoc: ContractDocument;
  resolveSchema(schema: Schema | undefined): Schema | null;
}

interface Framework {
  args: { apiDoc: ContractDocument };
  initialize(visitor: { visitApi(given: object): void }): Promise<object>;
}

/**
 * The validator looks for references to other files, compiles a schema of contracts that it was told not to check ours by,
 * and finds out what a reference leads to by having Ajv compile it: half of a server's start. So it is told what is there.
 */
function leaveContractUnread(): void {
  const { OpenAPIFramework } = require('express-openapi-validator/dist/framework/index.js') as {
    OpenAPIFramework: { prototype: Framework };
  };
  OpenAPIFramework.prototype.initialize = async function (visitor) {
    const { apiDoc } = this.args;
    const basePaths = [''];
    visitor.visitApi({ basePaths, getApiDoc: () => apiDoc });
    return { apiDoc, basePaths };
  };
  const { SchemaPreprocessor } =
    require('express-openapi-validator/dist/middlewares/parsers/schema.preprocessor.js') as {
      SchemaPreprocessor: { prototype: Preprocessor };
    };
  SchemaPreprocessor.prototype.resolveSchema = function (schema) {
    return schema ? resolve(this.apiDoc, schema) : null;
  };
}

/** Returns a way to the middlewares of express-openapi-validator by their names. */
function load(document: ContractDocument, allErrors: boolean, onViolation: (error: Error) => void) {
  const stack: Middleware[] = OpenApiValidator.middleware({
    apiSpec: document as never,
    validateApiSpec: false,
    validateSecurity: false,
    fileUploader: false,
    validateRequests: { allErrors },
    validateResponses: { onError: onViolation },
    ajvFormats: { mode: 'full' },
    formats: { 'date-time': { type: 'string', validate: isTimestamp } },
    // Without a serializer a Date in an answer is a violation everywhere, not only in nullable fields.
    serDes: [{ format: 'date-time' }, { format: 'date' }],
  }) as never;
  return (name: string): Middleware => {
    const member = stack.find((each) => each.name === name);
    if (!member) throw new Error(`express-openapi-validator has changed: it has no ${name}.`);
    return member;
  };
}

/** What it must parse from its text: lists and objects. It needs all parameters only to compile them. */
const withoutScalars = (schema: Metadata['schema']): Metadata['schema'] => ({
  ...schema,
  parameters: (schema.parameters ?? []).filter(
    (parameter) =>
      !/^(string|integer|number|boolean)$/.test(String(parameter.schema.type ?? parameter.schema['x-eov-type'])),
  ),
});

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
