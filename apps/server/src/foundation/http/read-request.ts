import { parse as parseQuery } from 'node:querystring';
import { noteAsSent } from '../values/as-sent.ts';
import { ServiceError } from '../values/service-error.ts';
import type { Operation, Parameter, RequestParts } from './contract.ts';
import { openCursor, takesCursor } from './cursor.ts';
import { parseExactly } from './exact-numbers.ts';
import type { Exchange } from './exchange.ts';
import { BYTES_PER_VALUE, checkFreeForm, checkText } from './free-form.ts';
import { checkNesting } from './nesting.ts';
import type { LargeBodies, LargeBody } from './parse-in-turns.ts';
import { type BodyReader, hasBody, LARGE, textOf } from './request-body.ts';
import { faultAt, type MarkedPlace, tooManyItems, unsupportedMediaType } from './request-fault.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** How one operation's requests are read; made once for each at start. */
export interface RequestReader {
  /** The parts that the validator is given. Throws what it would answer wrongly, or let through. */
  read(exchange: Exchange, params: Record<string, string>, search: string): Promise<RequestParts> | RequestParts;
}

/** @param maxBytes the most bytes that a JSON body may have */
export function createRequestReader(
  operation: Operation,
  maxBytes: number,
  bodies: BodyReader,
  large: LargeBodies,
  marked: readonly MarkedPlace[],
): RequestReader {
  const numbers = operation.parameters.filter((parameter) => /^(integer|number)$/.test(String(parameter.schema.type)));
  const headerNames = operation.parameters
    .filter(({ in: place }) => place === 'header')
    .map(({ name }) => name.toLowerCase());
  const listsByCursor = takesCursor(operation);
  const { known, judged = new Set<string>(), mostItems = new Map<string, number>() } = operation.body ?? {};
  const asked: LargeBody = {
    ...{ maxValues: maxBytes / BYTES_PER_VALUE, known, judged, mostItems },
    exactly: operation.id === 'startWorkflowRun',
    tooManyItems: (list, most) => tooManyItems(list, most, operation, marked),
  };
  const checked = (body: unknown) => ({ body, values: checkFreeForm(body, asked.maxValues, judged) });

  const partsOf = ({ request }: Exchange, params: Record<string, string>, search: string): RequestParts => {
    const sent = search === '' ? {} : readQuery(search);
    const query = listsByCursor ? openCursor(operation, params, sent) : sent;
    const headers: Record<string, unknown> = {};
    for (const name of headerNames) if (request.headers[name] !== undefined) headers[name] = request.headers[name];
    const parts: RequestParts = { params, query, headers, body: undefined, values: 0 };
    for (const parameter of numbers) checkDigits(parameter, parts);
    for (const name in params) checkText(params[name]!, `/path/${name}`);
    for (const name in query) checkTexts(query[name], `/query/${name}`);
    return parts;
  };

  async function readBody(exchange: Exchange, body: NonNullable<Operation['body']>, parts: RequestParts) {
    const { request } = exchange;
    // The validator keeps what it compiled by the raw header: strangers could fill the memory with it.
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    if (!hasBody(request) && !body.required) return parts;
    if (!hasBody(request)) throw missingBody();
    if (type === undefined || !body.types.includes(type)) throw unsupportedMediaType(operation);
    parts.headers['content-type'] = type;
    if (type !== JSON_TYPE && type !== FORM_TYPE) return parts;
    const isNamed = parts.headers['idempotency-key'] !== undefined;
    const { workspaceId } = exchange;
    const parse = (bytes: Uint8Array) => {
      if (type === FORM_TYPE) return checked({ ...parseQuery(textOf(bytes)) });
      if (bytes.length > LARGE) return large.parse(workspaceId, bytes, asked, isNamed);
      const text = textOf(bytes);
      checkNesting(text);
      const small = checked(asked.exactly ? parseExactly(text) : JSON.parse(text));
      if (isNamed) noteAsSent(small.body);
      return small;
    };
    const check = (bytes: Uint8Array) => large.checkBeginning(workspaceId, bytes, asked);
    const parsed = await bodies.read(request, maxBytes, exchange, parse, type === JSON_TYPE ? check : undefined);
    if (parsed.body === null) throw missingBody();
    return Object.assign(parts, parsed);
  }

  return {
    read(exchange, params, search) {
      const parts = partsOf(exchange, params, search);
      if (!operation.body) return parts;
      return readBody(exchange, operation.body, parts);
    },
  };
}

function checkTexts(sent: string | string[] | undefined, path: string): void {
  if (Array.isArray(sent)) for (const text of sent) checkText(text, path);
  else if (sent !== undefined) checkText(sent, path);
}

/** What browsers, caches and advertisements add to addresses. */
const NOT_LOOKED_AT = /^(?:_|cb|gclid|fbclid|utm_.*)$/;
/** What a form sends where nothing was filled in. */
const MAY_BE_EMPTY = ['page', 'searchText'];

function readQuery(search: string): ReturnType<typeof parseQuery> {
  const query = parseQuery(search);
  for (const name in query) if (NOT_LOOKED_AT.test(name)) delete query[name];
  for (const name of MAY_BE_EMPTY) if (query[name] === '') delete query[name];
  return query;
}

const missingBody = () =>
  new ServiceError('invalid_request', 'The request body is missing.', {
    details: [{ path: '/body', message: 'is required' }],
  });

const DIGITS = { integer: /^-?\d{1,15}$/, number: /^-?\d{1,15}(\.\d{1,15})?$/ };

/** The validator reads `0x10`, `1e2` and ` 7 ` as numbers. */
function checkDigits(parameter: Parameter, parts: RequestParts): void {
  const place = { query: parts.query, header: parts.headers, path: parts.params }[parameter.in];
  const raw = place[parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name];
  if (typeof raw !== 'string' || raw === '') return;
  if (DIGITS[parameter.schema.type as 'integer' | 'number'].test(raw)) return;
  const path = `/${parameter.in === 'header' ? 'headers' : parameter.in}/${parameter.name}`;
  const message = parameter.schema.type === 'integer' ? 'must be an integer in digits' : 'must be a number in digits';
  throw faultAt(path, message);
}
