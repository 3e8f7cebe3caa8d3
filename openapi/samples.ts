import { byCli } from './cli-samples.ts';
import { camel, methodName } from './method-names.ts';

// How each operation is called, made from the contract's own examples.

export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
}
interface Media {
  examples?: Record<string, { value: unknown }>;
}
export interface Operation {
  operationId: string;
  tags: [string];
  description: string;
  parameters?: Parameter[];
  requestBody?: { $ref?: string; content: Record<string, Media> };
  responses: Record<string, { $ref?: string; content?: Record<string, object> }>;
  'x-permission'?: string;
  'x-codeSamples'?: Sample[];
}
/** The bundled contract, as far as samples need it. */
export interface Contract {
  info: { description: string };
  paths: Record<string, { parameters?: Parameter[] } & Record<string, Operation | Parameter[] | undefined>>;
  webhooks: Record<string, { post: { description: string } }>;
}
export interface Sample {
  lang: string;
  label: string;
  source: string;
}

/** An operation with all that a request to it needs, each value from an example. */
export interface Call {
  operation: Operation;
  verb: string;
  path: string;
  pathValues: Record<string, string>;
  query: Record<string, unknown>;
  /** The Idempotency-Key, where one must be given. Where one may, a copied sample had better have none. */
  idempotencyKey?: string;
  body?: unknown;
  answersStream: boolean;
  /** What a form brings, and as which part. */
  form?: { part: 'file' | 'files'; file: string } | undefined;
  isListing: boolean;
}

/** Each operation of the contract with its path, verb and samples: by curl, by @trunkline/client, and by the command line where it can. */
export function samplesOf(contract: Contract): { operation: Operation; samples: Sample[] }[] {
  return callsOf(contract).map((call) => {
    const command = byCli(call);
    return {
      operation: call.operation,
      samples: [
        { lang: 'Shell', label: 'curl', source: curl(call) },
        // A path outside of the interface is there for clients of other services.
        ...(call.path.startsWith('/v1/')
          ? [{ lang: 'TypeScript', label: '@trunkline/client', source: byClient(call) }]
          : []),
        ...(command ? [{ lang: 'Shell', label: 'trunkline', source: command }] : []),
      ],
    };
  });
}

function callsOf(contract: Contract): Call[] {
  const resolve = <T extends { $ref?: string }>(node: T): T => {
    if (!node.$ref) return node;
    let found: unknown = contract;
    for (const part of node.$ref.slice(2).split('/')) found = (found as Record<string, unknown>)[part];
    return found as T;
  };
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    ['get', 'post', 'put', 'patch', 'delete'].flatMap((verb): Call[] => {
      const operation = item[verb] as Operation | undefined;
      if (!operation) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve);
      const of = (place: string) => parameters.filter((each) => each.in === place);
      const examples = (some: Parameter[]) => Object.fromEntries(some.map(({ name, example }) => [name, example]));
      const key = of('header').find(({ name }) => name === 'Idempotency-Key');
      const content = operation.requestBody && resolve(operation.requestBody).content;
      const [example] = Object.values(content?.['application/json']?.examples ?? {});
      const form = content?.['multipart/form-data'];
      const [, answer] = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))!;
      return [
        {
          operation,
          verb: verb.toUpperCase(),
          path,
          pathValues: examples(of('path')) as Record<string, string>,
          query: examples(of('query').filter(({ required }) => required)),
          ...(key?.required && { idempotencyKey: String(key.example) }),
          ...(example && { body: example.value }),
          answersStream: Boolean(resolve(answer).content?.['text/event-stream']),
          form: form && formOf(form),
          isListing: of('query').some(({ name }) => name === 'cursor'),
        },
      ];
    }),
  );
}

/** The file of a form that takes one, or a handbook where it takes several. */
function formOf({ examples }: Media): Call['form'] {
  const { file } = Object.values(examples!)[0]!.value as { file?: string };
  return file === undefined ? { part: 'files', file: 'handbook.pdf' } : { part: 'file', file };
}

function curl({ verb, path, pathValues, query, idempotencyKey, body, answersStream, form }: Call): string {
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(pathValues[name]!));
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const method = verb === (body === undefined && !form ? 'GET' : 'POST') ? '' : ` -X ${verb}`;
  const lines = [
    `curl${answersStream ? ' -N' : ''}${method} "$TRUNKLINE_BASE_URL${at}${search.size > 0 ? `?${search}` : ''}"`,
    `-H "X-API-Key: $TRUNKLINE_API_KEY"`,
  ];
  if (idempotencyKey) lines.push(`-H 'Idempotency-Key: ${idempotencyKey}'`);
  if (form) lines.push(`-F '${form.part}=@${form.file}'`);
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`);
    lines.push(`-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`);
  }
  return lines.join(' \\\n  ');
}

function byClient(call: Call): string {
  const { operation, path, pathValues, query, idempotencyKey, body, answersStream, form, isListing } = call;
  const given = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => literal(pathValues[name!]));
  if (body !== undefined) given.push(literal(body));
  if (form) {
    const file = `{ name: '${form.file}', content: await openAsBlob('${form.file}') }`;
    given.push(form.part === 'file' ? file : `[${file}]`);
  }
  if (Object.keys(query).length > 0) given.push(literal(query));
  if (idempotencyKey) given.push(literal({ idempotencyKey }));
  const [tag] = operation.tags;
  const asked = `client.${camel(tag)}.${methodName(operation.operationId, tag)}(${given.join(', ')})`;
  const imports = form ? `import { openAsBlob } from 'node:fs';\n` : '';
  let use = `const answer = await ${asked};`;
  if (operation.responses['204']) use = `await ${asked};`;
  if (isListing) use = `for await (const each of ${asked}) console.log(each);`;
  if (answersStream) use = `for await (const event of ${asked}) console.log(event);`;
  return `${imports}import { createClient } from '@trunkline/client';\n\nconst client = createClient();\n${use}`;
}

/** A value as people write it in TypeScript. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((each) => literal(each, deeper))
    : Object.entries(value).map(
        ([name, each]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)}: ${literal(each, deeper)}`,
      );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) return open + close;
  const inner = isList ? members.join(', ') : ` ${members.join(', ')} `;
  if (inner.length < 60 && !inner.includes('\n')) return open + inner + close;
  return `${open}\n${members.map((member) => `${deeper}${member},\n`).join('')}${indent}${close}`;
}
