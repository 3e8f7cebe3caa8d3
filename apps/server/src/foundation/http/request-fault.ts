import { type ErrorCode, type ErrorDetail, ServiceError } from '../values/service-error.ts';
import type { Operation, Schema } from './contract.ts';
import { wordFaults } from './word-faults.ts';

/** A fault that express-openapi-validator names. Only those of Ajv carry `errorCode`. */
interface ValidatorFault {
  path: string;
  message: string;
  errorCode?: string;
}

/** A place in a request, `*` standing for any array index, and the code that the contract gives to faults there. */
export interface MarkedPlace {
  pattern: readonly string[];
  code: ErrorCode;
}

/** A code that names one kind of fault is not given to another at the same place. */
const KEYWORD_OF_CODE: Partial<Record<ErrorCode, string>> = {
  missing_idempotency_key: 'required',
  too_many_recipients: 'maxItems',
};

/** What Ajv throws where it compares the items of a list, and one of them has a value of such a name (fast-deep-equal). */
const CAN_NOT_COMPARE = /\.(?:toString|valueOf) is not a function$/;

const MAX_DETAILS = 100;
const PLACES: Record<string, string> = { body: 'body', query: 'query', headers: 'headers', params: 'path' };

/** The places of an operation that bear an `x-error-code`. `resolve` follows a schema's `$ref`. */
export function markedPlaces(operation: Operation, resolve: (schema: Schema) => Schema): MarkedPlace[] {
  const marked: MarkedPlace[] = [];
  for (const parameter of operation.parameters) {
    const code = parameter['x-error-code'] ?? parameter.schema['x-error-code'];
    if (code) marked.push({ pattern: [PLACE_OF[parameter.in], parameter.name], code });
  }
  const visit = (reference: Schema, pattern: string[]): void => {
    if (pattern.length > 8) return;
    const code = reference['x-error-code'];
    const schema = resolve(reference);
    const found = code ?? schema['x-error-code'];
    if (found) marked.push({ pattern, code: found });
    for (const [name, child] of Object.entries(schema.properties ?? {})) visit(child, [...pattern, name]);
    if (schema.items) visit(schema.items, [...pattern, '*']);
    for (const child of [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])])
      visit(child, pattern);
  };
  if (operation.body?.schema) visit(operation.body.schema, ['body']);
  return marked;
}

const PLACE_OF = { query: 'query', header: 'headers', path: 'path' } as const;

/**
 * What the validator threw, as the error that the client gets: the code of the first marked fault, every fault in
 * `details`, with the workflow node that it is in. Anything that is not about the request comes back as it is.
 */
export function requestFault(
  error: unknown,
  operation: Operation,
  marked: readonly MarkedPlace[],
  body: unknown,
): unknown {
  const { status, errors, message } = error as { status?: number; errors?: ValidatorFault[]; message: string };
  if (status === 415) return unsupportedMediaType(operation);
  if (CAN_NOT_COMPARE.test(message)) return faultAt('/body', 'must hold no item with a property toString or valueOf');
  if (status !== 400) return error;
  const faults = wordFaults(
    (errors ?? []).map((fault) => ({ ...detail(fault, operation), keyword: fault.errorCode?.split('.')[0] ?? '' })),
  ).map((fault) => ({ ...fault, ...nodeAt(fault.path, body) }));
  for (const fault of faults) {
    const code = codeOf(fault.path, fault.keyword, marked);
    if (code) return refusal(code, faults);
  }
  return faults.length > 0 ? refusal('invalid_request', faults) : new ServiceError('invalid_request', message);
}

/** The refusal of a list in a body, as the validator finds it. */
export const tooManyItems = (list: string, most: number, operation: Operation, marked: readonly MarkedPlace[]) =>
  requestFault(
    {
      ...{ status: 400, message: '' },
      errors: [
        {
          path: `/body/${list}`,
          message: `must NOT have more than ${most} items`,
          errorCode: 'maxItems.openapi.validation',
        },
      ],
    },
    ...[operation, marked, undefined],
  ) as ServiceError;

/** The refusal of one place in a request, such as `/query/page`, for what it must or must not be. */
export const faultAt = (path: string, message: string) =>
  new ServiceError('invalid_request', `${path.slice(1)} ${message}`, { details: [{ path, message }] });

/** The refusal of a body in a type that the operation doesn't take. */
export const unsupportedMediaType = (operation: Operation) =>
  new ServiceError('unsupported_media_type', `Send the body as ${operation.body?.types.join(' or ')}.`);

function detail(fault: ValidatorFault, operation: Operation): ErrorDetail {
  const [, place = '', ...rest] = fault.path.split('/');
  const where = PLACES[place];
  if (!where) return { path: '/body', message: fault.message };
  if (where !== 'headers') return { path: ['', where, ...rest].join('/').slice(0, 512), message: fault.message };
  const name = operation.parameters.find((parameter) => parameter.name.toLowerCase() === rest[0])?.name;
  return { path: `/headers/${name ?? rest[0]}`, message: fault.message };
}

/** The ID of the workflow node that a place in a body belongs to, where it has a fit one. */
function nodeAt(path: string, body: unknown): { nodeId?: string } {
  const [, place, list, index] = path.split('/');
  if (place !== 'body' || list !== 'nodes' || index === undefined) return {};
  const { nodes } = body as { nodes?: { id?: unknown }[] };
  const id = nodes?.[Number(index)]?.id;
  return typeof id === 'string' && id.length <= 64 ? { nodeId: id } : {};
}

function codeOf(path: string, keyword: string, marked: readonly MarkedPlace[]): ErrorCode | undefined {
  const parts = path.slice(1).split('/');
  return marked.find(
    ({ pattern, code }) =>
      (KEYWORD_OF_CODE[code] ?? keyword) === keyword &&
      pattern.length === parts.length &&
      pattern.every((part, index) => part === '*' || part === parts[index]),
  )?.code;
}

function refusal(code: ErrorCode, faults: ErrorDetail[]): ServiceError {
  const details = faults.slice(0, MAX_DETAILS).map(({ path, message, nodeId }) => ({
    path,
    message: message.slice(0, 1024),
    ...(nodeId !== undefined && { nodeId }),
  }));
  const text = details
    .slice(0, 5)
    .map(({ path, message, nodeId }) => `${path.slice(1)}${nodeId ? ` (node ${nodeId})` : ''} ${message}`);
  return new ServiceError(code, text.join('; ').slice(0, 2048), { details });
}
