import type { Schema as EdgeSchema } from '../../src/foundation/http/contract.ts';

/** What the contract says of a value, as far as bad ones are made from it. */
export interface ValueSchema extends EdgeSchema {
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  required?: string[];
  additionalProperties?: boolean | ValueSchema;
  example?: unknown;
}

/** One fault in an otherwise right value. */
export interface BadValue {
  /** Where the fault lies, from the value's root. */
  path: string[];
  /** What is wrong, for the test's name. */
  fault: string;
  /** The whole value with the fault in it. */
  value: unknown;
}

export type Resolve = (schema: ValueSchema) => ValueSchema;

const LONGEST_TEXT = 20_000;
const MOST_ITEMS = 2000;

/** Values with one fault each: every rule that the schema sets for the value or a part of it is broken once. */
export function badValues(resolve: Resolve, schema: ValueSchema, good: unknown): BadValue[] {
  return faultsIn(resolve, schema, good, []).map(({ path, fault, value }) => ({
    path,
    fault,
    value: replaced(good, path, value),
  }));
}

const GONE = Symbol('gone');

/** A copy of a value with another one at a place. */
function replaced(whole: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy: Record<string, unknown> = Array.isArray(whole)
    ? ([...whole] as unknown as Record<string, unknown>)
    : { ...(whole as object) };
  if (rest.length === 0 && value === GONE) delete copy[key];
  else copy[key] = replaced(copy[key], rest, value);
  return copy;
}

function faultsIn(resolve: Resolve, reference: ValueSchema, good: unknown, path: string[]): BadValue[] {
  const outer = resolve(reference);
  const schema = shapeOf(resolve, outer, good);
  const mayBeNull = (outer.oneOf ?? []).some((each) => resolve(each as ValueSchema).type === 'null');
  const found = ownFaults(schema, good)
    .filter(({ value }) => value !== null || !mayBeNull)
    .map(({ fault, value }) => ({ path, fault, value }));
  if (Array.isArray(good) && schema.items && good.length > 0) {
    found.push(...faultsIn(resolve, schema.items, good[0], [...path, '0']));
  }
  if (!isMap(good)) return found;
  for (const name of schema.required ?? []) found.push({ path: [...path, name], fault: 'missing', value: GONE });
  for (const [name, child] of Object.entries(schema.properties ?? {}) as [string, ValueSchema][]) {
    const value = name in good ? good[name] : resolve(child).example;
    const faults = faultsIn(resolve, child, value, [...path, name]);
    // Below a value that the good one lacks there is nothing to replace.
    found.push(...(name in good ? faults : faults.filter((each) => each.path.length === path.length + 1)));
  }
  return found;
}

/** Of several shapes the one that the good value has. */
function shapeOf(resolve: Resolve, schema: ValueSchema, good: unknown): ValueSchema {
  const shapes = (schema.oneOf ?? schema.anyOf)?.map((each) => resolve(each as ValueSchema));
  if (!shapes) return schema;
  const fits = (shape: ValueSchema) =>
    isMap(good)
      ? Object.keys(good).every((key) => key in (shape.properties ?? {})) && hasConstants(resolve, shape, good)
      : typesOf(shape).includes(typeOf(good));
  return shapes.find(fits) ?? schema;
}

const hasConstants = (resolve: Resolve, shape: ValueSchema, good: Record<string, unknown>): boolean =>
  Object.entries(shape.properties ?? {}).every(([name, child]) => {
    const { const: constant } = resolve(child as ValueSchema);
    return constant === undefined || constant === good[name];
  });

function ownFaults(schema: ValueSchema, good: unknown): { fault: string; value: unknown }[] {
  const types = typesOf(schema);
  const isText = types.includes('string');
  const isNumber = types.includes('integer') || types.includes('number');
  const faults: [string, unknown][] = [];
  const stranger = [{}, [], true, 'x', 1].find((value) => !types.includes(typeOf(value)));
  if (types.length > 0 && stranger !== undefined) faults.push([`of type ${typeOf(stranger)}`, stranger]);
  if (types.length > 0 && !types.includes('null')) faults.push(['null', null]);
  if (types.includes('integer') && !types.includes('number')) faults.push(['half a number', 1.5]);
  if (schema.enum) faults.push(['none of the words', isText ? 'no_such_word' : 987_654]);
  if (schema.const !== undefined && typeof schema.const === 'string') faults.push(['another word', 'no_such_word']);
  if (isText && schema.maxLength !== undefined && schema.maxLength < LONGEST_TEXT) {
    faults.push(['too long', 'a'.repeat(schema.maxLength + 1)]);
  }
  if (isText && schema.minLength) faults.push(['empty', '']);
  if (isText && schema.pattern && !new RegExp(schema.pattern, 'u').test('\u00a7')) faults.push(['misshapen', '\u00a7']);
  if (isNumber && schema.maximum !== undefined) faults.push(['too large', schema.maximum + 1]);
  if (isNumber && schema.minimum !== undefined) faults.push(['too small', schema.minimum - 1]);
  if (Array.isArray(good)) {
    const { maxItems = MOST_ITEMS } = schema;
    if (schema.minItems) faults.push(['without items', []]);
    if (maxItems < MOST_ITEMS) faults.push(['with too many items', Array(maxItems + 1).fill(good[0] ?? 'x')]);
    if (schema.uniqueItems && good.length > 0) faults.push(['with an item twice', [good[0], good[0]]]);
  }
  if (isMap(good) && schema.additionalProperties === false) {
    faults.push(['with an unknown property', { ...good, nonsense: 1 }]);
  }
  return faults.map(([fault, value]) => ({ fault, value }));
}

const typesOf = (schema: ValueSchema): string[] => [schema.type ?? []].flat();

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
