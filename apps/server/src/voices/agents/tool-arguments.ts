import { Ajv, type ValidateFunction } from 'ajv';
import { nameFault } from '../../foundation/values/kept-text.ts';

/** What schemas of arguments and results may be made of: all of it costs time in proportion to what is looked at. */
const KEYWORDS = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf'],
  ...['title', 'description', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems'],
]);
const MOST_BYTES = 16_384;
const MOST_DEPTH = 8;
const MOST_REMEMBERED = 200;
const MOST_FAULTS = 5;

const ajv = () => new Ajv({ strict: false, validateFormats: false, allErrors: false, logger: false });
const remembered = new Map<string, ValidateFunction>();

function compiled(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = remembered.get(text);
  if (known) return known;
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  const made = ajv().compile(schema);
  remembered.set(text, made);
  return made;
}

/** What is wrong with a schema of an object, for whoever wrote it. */
export function schemaFault(schema: object): string | undefined {
  if (Buffer.byteLength(JSON.stringify(schema)) > MOST_BYTES) return `must have at most ${MOST_BYTES} bytes`;
  if ((schema as { type?: unknown }).type !== 'object') return 'must be the schema of an object: type: object';
  const fault = keywordFault(schema, 0);
  if (fault !== undefined) return fault;
  try {
    compiled(schema);
    return undefined;
  } catch (error) {
    return `is no JSON Schema: ${(error as Error).message.slice(0, 200)}`;
  }
}

function keywordFault(schema: unknown, depth: number): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return 'must hold schemas, which are objects';
  if (depth > MOST_DEPTH) return `must be at most ${MOST_DEPTH} schemas deep`;
  const { properties, items, additionalProperties, anyOf } = schema as Record<string, unknown>;
  const unknown = Object.keys(schema).find((name) => !KEYWORDS.has(name));
  if (unknown !== undefined) return `must not have the keyword ${unknown.slice(0, 64)}`;
  const inside = [
    ...Object.values(properties ?? {}),
    ...(items === undefined ? [] : [items]),
    ...(additionalProperties === undefined ? [] : [additionalProperties]),
    ...(Array.isArray(anyOf) ? anyOf : []),
  ];
  for (const each of inside) {
    const fault = keywordFault(each, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What the database can keep: text without NUL and halves of characters, and no names that change an object. */
const keepable = (name: string, value: unknown) => {
  if (nameFault(name) !== undefined) return undefined;
  return typeof value === 'string' ? value.replaceAll(/[\0\p{Surrogate}]/gu, '') : value;
};

/**
 * The arguments of a tool, as a model wrote them.
 * @throws Error with what is wrong, for the model
 */
export function readArguments(schema: object, args: string): Record<string, unknown> {
  let read: unknown;
  try {
    read = JSON.parse(args === '' ? '{}' : args, keepable);
  } catch {
    throw new Error('The arguments are no JSON.');
  }
  const validate = compiled(schema);
  if (validate(read)) return read as Record<string, unknown>;
  const faults = (validate.errors ?? [])
    .slice(0, MOST_FAULTS)
    .map((each) => `${each.instancePath || '/'} ${each.message}`);
  throw new Error(`The arguments are not as they must be: ${faults.join('; ')}.`);
}
