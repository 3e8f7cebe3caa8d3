/** What is read of a schema here. */
interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  'x-excludes'?: Record<string, string[]>;
}
interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  schema: Schema;
}
interface Body {
  $ref?: string;
  content: Record<string, { schema: Schema }>;
}
interface Response {
  $ref?: string;
  'x-error-codes'?: string[];
  content?: Record<string, { examples?: Record<string, { value?: { code?: string } }> }>;
}
interface Operation {
  'x-permission': string;
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Response>;
}
/** A bundled contract, as far as it is read here. */
export interface Document {
  paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
  components: object;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const AT_MOST = ['maxLength', 'maximum', 'exclusiveMaximum', 'maxItems', 'maxProperties'];
const AT_LEAST = ['minLength', 'minimum', 'exclusiveMinimum', 'minItems', 'minProperties'];
const EXACTLY = ['pattern', 'format', 'const', 'multipleOf', 'uniqueItems'];

/**
 * What Redocly's comparison of two contracts doesn't see, or tells of a shared schema's answers alone: requests that must keep to
 * more or that mean something else, another permission, and codes of errors that are no longer told. A line each.
 */
export function stricterRequests(before: Document, after: Document): string[] {
  const found: string[] = [];
  const say = (place: string, what: string) => found.push(`${place}: ${what}`);

  function asked(place: string, was: Schema, is: Schema, wasNeeded = false): void {
    const [old, now] = [meant(before, was, was), meant(after, is, was)];
    for (const keyword of AT_MOST) {
      const [from, to] = [old[keyword] ?? Number.POSITIVE_INFINITY, now[keyword] ?? Number.POSITIVE_INFINITY];
      if (to < from) say(place, `${keyword} fell from ${from} to ${to}.`);
    }
    for (const keyword of AT_LEAST) {
      const [from, to] = [old[keyword] ?? Number.NEGATIVE_INFINITY, now[keyword] ?? Number.NEGATIVE_INFINITY];
      if (to > from) say(place, `${keyword} rose from ${from} to ${to}.`);
    }
    for (const keyword of EXACTLY)
      if (now[keyword] !== undefined && now[keyword] !== old[keyword])
        say(place, `${keyword} was ${old[keyword] === undefined ? 'added' : 'changed'}.`);
    const [given, taken] = [old, now].map((schema) => JSON.stringify(schema['default'])) as [string, string];
    if (given !== taken && !wasNeeded) say(place, `The default became ${taken} and was ${given}.`);
    for (const [name, others] of Object.entries(now['x-excludes'] ?? {}))
      for (const other of others.filter((each) => !old['x-excludes']?.[name]?.includes(each)))
        if (old.properties?.[name] && old.properties[other]) say(place, `${name} excludes ${other}.`);
    for (const [name, part] of Object.entries(old.properties ?? {}))
      if (now.properties?.[name]) asked(`${place}/${name}`, part, now.properties[name], old.required?.includes(name));
    if (old.items && now.items) asked(`${place}/*`, old.items, now.items);
    for (const list of ['oneOf', 'anyOf', 'allOf'] as const)
      if (old[list]?.length === now[list]?.length)
        for (const [index, part] of (old[list] ?? []).entries())
          asked(`${place}/${list}${index}`, part, now[list]![index]!);
  }

  const parametersOf = (document: Document, path: string, operation: Operation) =>
    new Map(
      [...(document.paths[path]!.parameters ?? []), ...(operation.parameters ?? [])]
        .map((each) => resolved(document, each))
        .map((each) => [`${each.in} ${each.name}`, each.schema] as const),
    );

  for (const [path, item] of Object.entries(before.paths))
    for (const method of METHODS) {
      const [was, is] = [item[method], after.paths[path]?.[method]];
      if (!was || !is) continue;
      const place = `${method.toUpperCase()} ${path}`;
      const [old, now] = [was['x-permission'], is['x-permission']];
      if (old !== now) say(place, `Its permission became ${now} and was ${old}.`);
      const taken = parametersOf(after, path, is);
      for (const [name, schema] of parametersOf(before, path, was))
        if (taken.has(name)) asked(`${place} ${name}`, schema, taken.get(name)!);
      const [sent, read] = [bodyOf(before, was), bodyOf(after, is)];
      for (const [type, { schema }] of Object.entries(sent))
        if (read[type]) asked(`${place} body`, schema, read[type].schema);
      for (const [status, response] of Object.entries(was.responses)) {
        const still = is.responses[status] ? codesOf(after, is.responses[status]) : [];
        const lost = codesOf(before, response).filter((code) => !still.includes(code));
        if (lost.length > 0) say(place, `${status} no longer tells ${lost.join(', ')}.`);
      }
    }
  return [...new Set(found)];
}

const bodyOf = (document: Document, { requestBody }: Operation) =>
  requestBody ? resolved(document, requestBody).content : {};

function resolved<Node extends { $ref?: string }>(document: Document, node: Node): Node {
  if (!node.$ref) return node;
  const { $ref, ...beside } = node;
  const at = (found: unknown, key: string) => (found as Record<string, unknown>)[key];
  return resolved(document, {
    ...($ref.slice(2).split('/').reduce(at, document) as unknown as Node),
    ...beside,
  } as Node);
}

/** The schema, or of a choice that has grown by `null` or a list the shape that there was before. */
function meant(document: Document, schema: Schema, like: Schema): Schema {
  const found = resolved(document, schema);
  const choices = (found.oneOf ?? found.anyOf)?.map((each) => resolved(document, each));
  if (!choices || like.oneOf || like.anyOf) return found;
  const { oneOf: _oneOf, anyOf: _anyOf, ...beside } = found;
  const shape = choices.find(({ type }) => type !== 'null' && type === (like.type ?? type));
  return { ...shape, ...beside };
}

/** The codes that a status lists, and those that its examples show. */
function codesOf(document: Document, reference: Response): string[] {
  const { 'x-error-codes': listed = [], content = {} } = resolved(document, reference);
  const shown = Object.values(content['application/json']?.examples ?? {}).map((example) => example.value?.code);
  return [...new Set([...listed, ...shown.filter((code) => code !== undefined)])];
}
