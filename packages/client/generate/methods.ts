// Writes src/generated/methods.ts: a method for every operation of the contract. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { camel, methodName, pascal } from '../../../openapi/method-names.ts';
import { pathOfGroup, USUAL, usualName } from '../src/usual-name.ts';

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
}
interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  properties?: object;
  /** What can't stand beside a field. */
  'x-excludes'?: Record<string, string[]>;
}
interface Operation {
  operationId: string;
  summary: string;
  tags: [string];
  parameters?: Parameter[];
  requestBody?: { $ref?: string; required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: { $ref: string } }> }>;
}
interface Contract {
  paths: Record<string, { parameters?: Parameter[] } & Record<string, Operation | Parameter[] | undefined>>;
}

const fileOf = (url: string) => fileURLToPath(new URL(url, import.meta.url));
const contract = JSON.parse(readFileSync(fileOf('../../../openapi/dist/openapi.json'), 'utf8')) as Contract;
const target = fileOf('../src/generated/methods.ts');

function resolve<T extends { $ref?: string }>(node: T): T {
  if (!node.$ref) return node;
  let found: unknown = contract;
  for (const part of node.$ref.slice(2).split('/')) found = (found as Record<string, unknown>)[part];
  return found as T;
}

interface Method {
  name: string;
  /** As it stands in the interface. */
  declaration: string;
  path: string;
  /** A letter of its verb, those of its kind, and `k` where it takes an Idempotency-Key: `Pbk`. */
  verb: string;
}

/** What stands for a verb. */
const LETTERS: Record<string, string> = { get: 'G', post: 'P', put: 'U', patch: 'A', delete: 'D' };

/** How a method's arguments are sent and its answer is read. */
type Kind = 'body' | 'files' | 'query' | 'listing' | 'stream' | 'plain';

function methodOf(path: string, verb: string, operation: Operation, shared: Parameter[]): Method {
  const { operationId: id, summary, tags } = operation;
  const parameters = [...shared, ...(operation.parameters ?? [])].map(resolve);
  const named = (place: string) => parameters.filter((each) => each.in === place);
  const body = operation.requestBody && resolve(operation.requestBody);
  const answer = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))![1];
  const content = resolve(answer).content ?? {};
  const header = (name: string) => named('header').find((each) => each.name === name);
  const isListing = named('query').some(({ name }) => name === 'cursor');
  let kind: Kind = 'plain';
  if (content['text/event-stream']) kind = 'stream';
  else if (body) kind = body.content['multipart/form-data'] ? 'files' : 'body';
  else if (isListing) kind = 'listing';
  else if (named('query').length > 0) kind = 'query';

  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const given = names.map((name) => `${name}: string`);
  const key = header('Idempotency-Key');
  if (kind === 'body') given.push(`body${body!.required ? '' : '?'}: ${bodyType(id, body!.content)}`);
  if (kind === 'files')
    given.push(hasOneFile(body!.content) ? 'file: File | NamedFile' : 'files: readonly (File | NamedFile)[]');
  if (kind === 'query' || kind === 'listing') {
    const mandatory = named('query').some(({ required }) => required);
    given.push(`query${mandatory ? '' : '?'}: Query<'${id}'>`);
  }
  const asks = named('query').length > 0 ? ` & { query?: Query<'${id}'> }` : '';
  if (kind === 'stream') given.push(`options?: EventOptions${asks}`);
  else if (key?.required) given.push(`options: RequestOptions & HeaderOptions<'${id}'>`);
  else if (key) given.push('options?: RequestOptions & { idempotencyKey?: string }');
  else if (header('If-Match')) given.push('options?: RequestOptions & { ifMatch?: string }');
  else given.push('options?: RequestOptions');
  const answered = { listing: `Listing<'${id}'>`, stream: `Events<'${id}'>` }[kind as string] ?? `Answer<'${id}'>`;
  const name = methodName(id, tags[0]);
  const marks = `${kind === 'plain' ? '' : kind[0]}${key && !key.required ? 'k' : ''}`;
  return {
    name,
    declaration: `  /** ${summary}. \`${verb.toUpperCase()} ${path}\` */\n  ${name}(${given.join(', ')}): ${answered};\n`,
    path,
    verb: `${LETTERS[verb]}${marks}`,
  };
}

/** Whether a form takes one part named `file`, and not several named `files`. */
const hasOneFile = (content: Record<string, { schema: Schema }>) =>
  'file' in (resolve(content['multipart/form-data']!.schema).properties ?? {});

/** The type of a body, with fields that exclude each other. */
function bodyType(id: string, content: Record<string, { schema: Schema }>): string {
  const schema = resolve(content['application/json']!.schema);
  const shapes = [schema, ...(schema.oneOf ?? [])].map(resolve);
  const excluding = Object.entries(Object.assign({}, ...shapes.map((shape) => shape['x-excludes'])));
  const literals = (names: string[]) => names.map((name) => `'${name}'`).join(' | ');
  const types = excluding.map(([name, others]) => ` & NotBoth<'${name}', ${literals(others as string[])}>`);
  return [`Body<'${id}'>`, ...types].join('');
}

const groups = new Map<string, Method[]>();
// A path outside of the interface is there for clients of other services.
const own = Object.entries(contract.paths).filter(([path]) => path.startsWith('/v1/'));
for (const [path, item] of own)
  for (const verb of Object.keys(LETTERS)) {
    const operation = item[verb] as Operation | undefined;
    if (!operation) continue;
    const [tag] = operation.tags;
    const methods = groups.get(tag) ?? [];
    const method = methodOf(path, verb, operation, item.parameters ?? []);
    if (methods.some(({ name }) => name === method.name)) throw new Error(`${tag} has two methods ${method.name}.`);
    groups.set(tag, [...methods, method]);
  }

const interfaces = [...groups].map(
  ([tag, methods]) =>
    `export interface ${pascal(tag)}Methods {\n${methods.map(({ declaration }) => declaration).join('')}}\n`,
);
const members = [...groups.keys()].map((tag) => `  ${camel(tag)}: ${pascal(tag)}Methods;\n`);

/** What all paths begin with, up to a slash, before any argument. */
function commonStart(paths: string[]): string {
  let start = paths[0]!.replace(/\/\{.*/, '');
  while (!paths.every((path) => `${path}/`.startsWith(`${start}/`))) start = start.slice(0, start.lastIndexOf('/'));
  return start;
}

const entries = [...groups].map(([tag, methods]) => {
  const group = camel(tag);
  const own = pathOfGroup(group);
  const shared = commonStart(methods.map(({ path }) => path)).replace(new RegExp(`${own}$`), '');
  const isOwn = methods.some(({ path }) => path.startsWith(shared + own));
  const restOf = (path: string) => {
    if (!isOwn) return path.slice(shared.length);
    return path.startsWith(shared + own) ? path.slice((shared + own).length) : `^${path.slice(shared.length)}`;
  };
  const words = methods.map(({ name, verb, path }) => {
    const shape = verb + restOf(path).replaceAll(/\/\{\w+\}/g, '*');
    return usualName(shape) === name ? shape : `${name}:${shape}`;
  });
  const text = [shared.slice('/v1'.length) + (isOwn ? '+' : ''), ...words].join(' ');
  return `  ${group}:\n    '${text.replace(USUAL, '!')}',\n`;
});
const text = `// Made from the contract by \`npm run generate\`.
import type { EventOptions } from '../event-stream.ts';
import type { Answer, Body, Events, HeaderOptions, Listing, NamedFile, NotBoth, Query } from '../method-types.ts';
import type { RequestOptions } from '../request-options.ts';

${interfaces.join('\n')}
/** The operations of the service, by what they are about. */
export interface Methods {
${members.join('')}}

/**
 * Of each group what its paths begin with after /v1, where + is the group's name, and then its operations: the method's
 * name and a colon, if it isn't the usual one, its verb (Get, Post, pUt, pAtch, Delete), how its arguments are sent (body,
 * files, query, listing, stream; k: it takes an Idempotency-Key), and the rest of its path, where * is an argument, and ^
 * goes up by one part. ! is all that is usual: ${USUAL}.
 */
export const methods: { [Group in keyof Methods]: string } = {
${entries.join('')}};
`;
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/generated/methods.ts is not what the contract says. Run `npm run generate`.');
  process.exitCode = 1;
}
