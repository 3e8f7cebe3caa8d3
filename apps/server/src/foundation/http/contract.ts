import type { ErrorCode } from '../values/service-error.ts';
import type { OperationId } from './handler.ts';

/** What the edge reads of a JSON Schema. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  const?: unknown;
  enum?: unknown[];
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  not?: Schema;
  if?: Schema;
  else?: Schema;
  discriminator?: unknown;
  'x-error-code'?: ErrorCode;
  /** Where express-openapi-validator moves the type of a text with some formats. */
  'x-eov-type'?: string;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'query' | 'header' | 'path';
  required?: boolean;
  allowReserved?: boolean;
  schema: Schema;
  'x-error-code'?: ErrorCode;
}

interface Body {
  $ref?: string;
  required?: boolean;
  content: Record<string, { schema?: Schema }>;
}

export interface Response {
  $ref?: string;
  content?: Record<string, unknown>;
  'x-error-codes'?: ErrorCode[];
}

export interface ContractOperation {
  operationId: OperationId;
  security?: Record<string, unknown>[];
  'x-permission'?: string;
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Response>;
}

/** What the edge reads of the bundled contract. */
export interface ContractDocument {
  openapi: string;
  paths: Record<string, { parameters?: Parameter[] } & Record<string, ContractOperation | Parameter[] | undefined>>;
  components?: object;
  webhooks?: unknown;
}

/** One operation as the edge works with it, read from the contract once at start. */
export interface Operation {
  id: OperationId;
  method: string;
  path: string;
  permission: string;
  parameters: Parameter[];
  body:
    | {
        required: boolean;
        types: string[];
        schema: Schema | undefined;
        judged: ReadonlySet<string>;
        /** Every property that it may have, if it is a closed object, or one of several. */
        known: ReadonlySet<string> | undefined;
        /** How many items each of its lists may have. */
        mostItems: ReadonlyMap<string, number>;
      }
    | undefined;
  /** Declared statuses with their declared error codes, where they name any. */
  statuses: Map<number, ReadonlySet<ErrorCode> | undefined>;
  /** Whether it answers with server-sent events. */
  streams: boolean;
  /** Names of what opens it beside a key (`securitySchemes`). */
  openedBy: ReadonlySet<string>;
}

/** The parts of a request that the contract speaks of. Defaults and numbers are written into them. */
export interface RequestParts {
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** The declared headers, by lower-case name, and `content-type`. */
  headers: Record<string, unknown>;
  body: unknown;
  /** How many values the body holds, at any depth. */
  values: number;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** What a `$ref` within the document points to; anything else as it is. */
export function resolve<T extends { $ref?: string }>(document: ContractDocument, node: T): T {
  if (node.$ref === undefined) return node;
  let target: unknown = document;
  for (const part of node.$ref.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = (target as Record<string, unknown>)[key];
  }
  if (target === undefined) throw new Error(`The contract has nothing at ${node.$ref}.`);
  return resolve(document, target as T);
}

/** Every operation as it stands in the document, with where. */
export function* operationsIn(document: ContractDocument) {
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method] as ContractOperation | undefined;
      if (operation) yield { path, method, item, operation };
    }
}

/** The properties of a body whose items may be anything, after `forValidator`: their operation judges each. */
function judgedIn(document: ContractDocument, reference: Schema | undefined): string[] {
  if (!reference) return [];
  const { properties = {}, oneOf = [], anyOf = [], allOf = [] } = resolve(document, reference) as Shape;
  const own = Object.entries(properties).filter(([, property]) => {
    const { items } = resolve(document, property) as { items?: object };
    return items !== undefined && Object.keys(items).length === 0;
  });
  return [...own.map(([name]) => name), ...[...oneOf, ...anyOf, ...allOf].flatMap((each) => judgedIn(document, each))];
}

function knownIn(document: ContractDocument, reference: Schema | undefined): Set<string> | undefined {
  if (!reference) return undefined;
  const { properties, additionalProperties, oneOf, anyOf } = resolve(document, reference) as Shape;
  if (properties && additionalProperties === false) return new Set(Object.keys(properties));
  const shapes = (oneOf ?? anyOf)?.map((each) => knownIn(document, each));
  return shapes?.includes(undefined) ? undefined : shapes && new Set(shapes.flatMap((each) => [...each!]));
}

/** Of a property that several shapes have, the most that one of them takes. */
function mostItemsIn(document: ContractDocument, reference: Schema | undefined): Map<string, number> {
  const most = new Map<string, number>();
  if (!reference) return most;
  const { properties = {}, oneOf = [], anyOf = [], allOf = [] } = resolve(document, reference) as Shape;
  const own = Object.entries(properties).map(([name, property]): [string, number] => [
    name,
    (resolve(document, property) as { maxItems?: number }).maxItems ?? Number.POSITIVE_INFINITY,
  ]);
  const theirs = [...oneOf, ...anyOf, ...allOf].flatMap((each) => [...mostItemsIn(document, each)]);
  for (const [name, items] of [...own, ...theirs]) most.set(name, Math.max(items, most.get(name) ?? 0));
  return most;
}

interface Shape {
  additionalProperties?: unknown;
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

/**
 * Every operation of a document that `forValidator` made. Throws where one names no permission: nothing is open by
 * default.
 */
export function operationsOf(document: ContractDocument): Operation[] {
  return [...operationsIn(document)].map(({ path, method, operation }) => {
    const permission = operation['x-permission'];
    if (!permission) throw new Error(`${operation.operationId} names no x-permission.`);
    const { requestBody } = operation;
    const statuses = Object.entries(operation.responses).map(([status, response]) => {
      const codes = resolve(document, response)['x-error-codes'];
      return [Number(status), codes && new Set(codes)] as const;
    });
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      permission,
      parameters: operation.parameters ?? [],
      body: requestBody && {
        required: requestBody.required === true,
        types: Object.keys(requestBody.content),
        schema: requestBody.content['application/json']?.schema,
        judged: new Set(judgedIn(document, requestBody.content['application/json']?.schema)),
        known: knownIn(document, requestBody.content['application/json']?.schema),
        mostItems: mostItemsIn(document, requestBody.content['application/json']?.schema),
      },
      statuses: new Map(statuses),
      streams: 'text/event-stream' in (operation.responses['200']?.content ?? {}),
      openedBy: new Set((operation.security ?? []).flatMap((scheme) => Object.keys(scheme))),
    };
  });
}
