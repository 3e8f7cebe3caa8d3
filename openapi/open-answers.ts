/** What is read of a schema here. */
export interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
}
type Node = Record<string, unknown>;
interface Operation {
  parameters?: unknown;
  requestBody?: unknown;
  responses: unknown;
}
/** A bundled contract, as far as it is read here. */
export interface Document {
  paths: Record<string, Node>;
  webhooks: Record<string, Node>;
  components: Record<string, Node> & { schemas: Record<string, Schema> };
}

/** Who says what a part of the contract describes: the client, or the server. */
type Side = 'asked' | 'said';

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const ONE = ['items', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'contains', 'not'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties'];

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const mapped = <Value>(node: Node, change: (value: never, key: string) => Value): Record<string, Value> =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value as never, key)]));
const nameIn = ({ $ref }: Schema) => $ref?.split('/').at(-1);

/** The schema with each schema inside it changed. */
function withParts(schema: Schema, change: (part: Schema) => Schema): Schema {
  return mapped(schema, (value: unknown, keyword) => {
    if (!isNode(value)) return value;
    if (LISTS.includes(keyword)) return (value as unknown as Schema[]).map(change);
    if (NAMED.includes(keyword)) return mapped(value, change);
    return ONE.includes(keyword) || keyword === 'contentSchema' ? change(value) : value;
  });
}

/** What a later version may say in a place: another value, or another shape, which a client tells by a field. */
const later = (what: 'value' | 'shape', type: string | undefined): Schema => ({
  ...(type && { type }),
  description: 'What a later version may bring.',
  'x-open': what,
});

/**
 * The contract as it is published, made of the one that is written by hand. What the server says is open: objects may have
 * more fields, closed lists more values, unions more shapes, which are marked
 * `x-open`. What it is asked stays closed. A
 * schema that both sides use and that is not the same for both is there twice; the requests' bears the name `…Input`.
 */
export function openAnswers(document: Document): Document {
  const { schemas } = document.components;
  const reached = { asked: new Set<string>(), said: new Set<string>() };

  /** Changes every schema of a part that one side says. */
  function inPart<Part>(part: Part, change: (schema: Schema) => Schema): Part {
    if (Array.isArray(part)) return part.map((each) => inPart(each, change)) as Part;
    if (!isNode(part)) return part;
    return mapped(part, (value, key) => {
      if (key === 'example' || key === 'examples' || key === 'headers') return value;
      return key === 'schema' ? change(value) : inPart(value, change);
    }) as Part;
  }

  function mark(side: Side, schema: Schema): Schema {
    const name = nameIn(schema);
    if (name !== undefined && !reached[side].has(name)) {
      reached[side].add(name);
      mark(side, schemas[name]!);
    }
    return withParts(schema, (part) => mark(side, part));
  }

  const typeOf = (schema: Schema): unknown => schema.type ?? (schema.$ref && typeOf(schemas[nameIn(schema)!]!));

  /** The type that all branches of a union have. */
  function sharedType(branches: Schema[]): string | undefined {
    const types = new Set(branches.map(typeOf));
    const [type] = types;
    return types.size === 1 && typeof type === 'string' ? type : undefined;
  }

  function opened(schema: Schema): Schema {
    const { oneOf, anyOf, ...rest } = withParts(schema, opened);
    for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
      if (rest[keyword] === false) delete rest[keyword];
    const branches = oneOf ?? anyOf;
    if (branches) {
      const type = sharedType(schema.oneOf ?? schema.anyOf!);
      return { ...rest, anyOf: [...branches, later(type === 'string' ? 'value' : 'shape', type)] };
    }
    if (!rest.enum) return rest;
    const { type, enum: values, 'x-enum-varnames': names, ...others } = rest;
    const known: Schema = { type: type!, enum: values, ...(names !== undefined && { 'x-enum-varnames': names }) };
    return { ...others, anyOf: [known, later(rest['x-tells-shapes'] ? 'shape' : 'value', type as string)] };
  }

  /** The names of schemas that differ if the server says them, themselves or by what they refer to. */
  function differing(): Set<string> {
    const found = new Set<string>();
    const isFound = (schema: Schema): boolean => {
      let refersToOne = found.has(nameIn(schema) ?? '');
      withParts(schema, (part) => {
        refersToOne ||= isFound(part);
        return part;
      });
      return refersToOne;
    };
    for (const [name, schema] of Object.entries(schemas))
      if (JSON.stringify(opened(schema)) !== JSON.stringify(schema)) found.add(name);
    for (let before = -1; before < found.size; ) {
      before = found.size;
      for (const [name, schema] of Object.entries(schemas)) if (isFound(schema)) found.add(name);
    }
    return found;
  }

  const sides: Record<Side, (schema: Schema) => Schema> = { said: opened, asked: (schema) => withInputs(schema) };
  let doubled = new Set<string>();
  function withInputs(schema: Schema): Schema {
    const name = nameIn(schema);
    const changed = withParts(schema, withInputs);
    return name !== undefined && doubled.has(name) ? { ...changed, $ref: `${schema.$ref}Input` } : changed;
  }

  /** Every operation, with its parts by who says them. */
  const eachPart = (change: <Part>(side: Side, part: Part) => Part): Document => {
    const operations = (items: Record<string, Node>, client: Side, server: Side) =>
      mapped(items, (item: Node) =>
        mapped(item, (value: unknown, key) => {
          if (key === 'parameters') return change(client, value);
          if (!METHODS.includes(key)) return value;
          const { parameters, requestBody, responses, ...rest } = value as Operation;
          return {
            ...rest,
            ...(parameters !== undefined && { parameters: change(client, parameters) }),
            ...(requestBody !== undefined && { requestBody: change(client, requestBody) }),
            responses: change(server, responses),
          };
        }),
      );
    const { parameters, requestBodies, responses, ...others } = document.components;
    return {
      ...document,
      paths: operations(document.paths, 'asked', 'said'),
      webhooks: operations(document.webhooks, 'said', 'asked'),
      components: {
        ...others,
        ...(parameters && { parameters: change('asked', parameters) }),
        ...(requestBodies && { requestBodies: change('asked', requestBodies) }),
        ...(responses && { responses: change('said', responses) }),
        schemas,
      },
    };
  };

  eachPart((side, part) => inPart(part, (schema) => mark(side, schema)));
  const differ = differing();
  doubled = new Set([...reached.asked].filter((name) => reached.said.has(name) && differ.has(name)));
  const published = eachPart((side, part) => inPart(part, sides[side]));
  published.components.schemas = Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      if (!doubled.has(name)) return [[name, reached.said.has(name) ? opened(schema) : withInputs(schema)]];
      if (schemas[`${name}Input`]) throw new Error(`${name}Input is the name that the request's ${name} gets.`);
      return [
        [name, opened(schema)],
        [`${name}Input`, withInputs(schema)],
      ];
    }),
  );
  return published;
}
