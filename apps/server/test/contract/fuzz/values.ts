import fc from 'fast-check';
import { type ContractDocument, type Schema as EdgeSchema, resolve } from '../../../src/foundation/http/contract.ts';
import { edgeDates, edgeTimes, longText } from './edges.ts';

/** What the contract says of a value, as far as values are made of it. */
interface ValueSchema extends EdgeSchema {
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  propertyNames?: ValueSchema;
  additionalProperties?: boolean | ValueSchema;
  example?: unknown;
}

/** Lists and texts stay short, but for a few that are as long as they may be. */
const MOST_ITEMS = 4;
const LONGEST_TEXT = 40;
/** Longer text is made more seldom. */
const LARGE = 5000;

/** Mostly the one, and the other once in so many times. */
const seldom = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, times = 20): fc.Arbitrary<T> =>
  fc.oneof({ weight: times - 1, arbitrary: usual }, { weight: 1, arbitrary: other });

const ID_PATTERN = /^\^([a-z]+)_\[0-9a-f\]\{32\}\$$/;
/** What stands for an ID until a request is sent: of those of its kind that the server has made, the one of that number. */
export const idInTurn = (prefix: string): fc.Arbitrary<string> =>
  fc.nat({ max: 15 }).map((place) => `<${prefix}:${place}>`);

/** Addresses that nobody answers at: reserved names, and those of this machine, which the server refuses. */
const hosts = fc.constantFrom(
  'hooks.invalid',
  'a.b.invalid',
  'localhost',
  '127.0.0.1:1',
  '[::1]',
  '169.254.169.254',
  '10.0.0.1:8080',
);
const url = (scheme: string) => hosts.map((host) => `${scheme}://${host}/calls?x=1`);

const trunks = fc.constantFrom('ok.sim', 'full.sim', 'sip.invalid', 'trunk-7.invalid', '127.0.0.1');

/** Of North America: so many that not all of them come to stand on the do-not-call list. */
const areas = [
  ...[201, 202, 203, 205, 206, 207, 208, 209, 212, 213, 214, 215, 216, 217, 218, 219, 224, 225, 228, 229],
  ...[231, 234, 239, 240, 248, 251, 252, 253, 254, 256, 260, 262, 267, 269, 270, 276, 281, 301, 302, 303],
];
const numbers = fc.oneof(
  { arbitrary: fc.constantFrom('<number:0>', '<number:1>'), weight: 2 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom(...areas), fc.nat({ max: 99 }))
      .map(([area, line]) => `+1${area}55501${String(line).padStart(2, '0')}`),
    weight: 3,
  },
  {
    arbitrary: fc.constantFrom('+493012345678', '+19002341234', '+447012345678', '+88312345678', '+999999999'),
    weight: 1,
  },
);

const soon = { min: new Date('2026-11-10'), max: new Date('2027-01-10'), noInvalidDate: true };

/** Texts of a pattern or format that chance, or a look-up by name, would hardly get right. */
const byPattern: Record<string, fc.Arbitrary<string>> = {
  '^\\+[1-9][0-9]{6,14}$': numbers,
  '^room_[0-9a-f]{32}\\.json$': idInTurn('room').map((id) => `${id}.json`),
  '^[wW]*[0-9A-D*#][0-9A-D*#wW]*$': fc.constantFrom('1', '2W104#', 'wwD', 'ww', '1'.repeat(64), '12e'),
  '^https?://': url('https'),
  '^wss?://': url('wss'),
  '^[A-Za-z0-9][A-Za-z0-9_.:-]*$': fc.oneof(fc.constant('agent_reception'), idInTurn('agent')),
  '^(sips?:)?(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?(;[A-Za-z0-9;=._-]+)?$': trunks,
  '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+)$': trunks,
  '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$': fc.constantFrom('127.0.0.1', '10.0.0.0/8', '::1/128', '0.0.0.0/0', '1.2.3', ':'),
  '^whsec_[A-Za-z0-9+/]+={0,2}$': fc.constant('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  '^[A-Z]{2}$': fc.constantFrom('US', 'GB', 'DE', 'FR', 'ZZ'),
};
const byFormat: Record<string, fc.Arbitrary<string>> = {
  'date-time': seldom(
    fc.date(soon).map((date) => date.toISOString()),
    edgeTimes,
  ),
  date: seldom(
    fc.date(soon).map((date) => date.toISOString().slice(0, 10)),
    edgeDates,
  ),
  uri: url('https'),
};

/** Of fields whose schema says less than what they are. */
export const byName: Record<string, fc.Arbitrary<unknown>> = {
  toNumber: numbers,
  // Few of them, so that some come again.
  'Idempotency-Key': fc.nat({ max: 20 }).map((key) => `key ${key}`),
  'Concurrency-Key': fc.nat({ max: 10 }).map((key) => `key ${key}`),
  timezone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'UTC', 'Asia/Kolkata', 'Nowhere/At_All'),
};

/** Makes values of the schemas of a document: right ones, as far as a schema says it. */
export function valuesOf(document: ContractDocument) {
  const known = new Map<object, fc.Arbitrary<unknown>>();
  const of = (reference: EdgeSchema): fc.Arbitrary<unknown> => {
    const schema = resolve(document, reference) as ValueSchema;
    const found = known.get(schema) ?? withExample(schema, make(schema));
    known.set(schema, found);
    return found;
  };

  /** An example says more than a schema: of names, of what belongs together. */
  const withExample = ({ example, pattern }: ValueSchema, made: fc.Arbitrary<unknown>) =>
    example === undefined || (pattern !== undefined && (pattern in byPattern || ID_PATTERN.test(pattern)))
      ? made
      : fc.oneof(made, fc.constant(withTurns(example)));

  function make(schema: ValueSchema): fc.Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.allOf) return fc.tuple(...schema.allOf.map(of)).map((parts) => Object.assign({}, ...parts));
    const shapes = schema.oneOf ?? schema.anyOf;
    if (shapes) return oneShape(schema, shapes);
    const types = [schema.type ?? []].flat();
    return types.length === 0 ? anything : fc.oneof(...types.map((type) => ofType(schema, type)));
  }

  /** A shape may only say what is required or left out of the properties beside it. */
  function oneShape({ oneOf: _, anyOf: __, ...beside }: ValueSchema, shapes: EdgeSchema[]): fc.Arbitrary<unknown> {
    if (!beside.properties) return fc.oneof(...shapes.map(of));
    const joined = shapes.map((shape) => {
      const { required = [], properties = {} } = resolve(document, shape);
      const all = { ...beside.properties, ...properties };
      return make({ ...beside, properties: all, required: [...(beside.required ?? []), ...required] });
    });
    return fc.oneof(...joined);
  }

  function ofType(schema: ValueSchema, type: string): fc.Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return numberOf(schema, type);
      case 'array':
        return listOf(schema);
      case 'object':
        return objectOf(schema);
      default:
        return textOf(schema);
    }
  }

  function listOf({ items, minItems = 0, maxItems = MOST_ITEMS, uniqueItems }: ValueSchema): fc.Arbitrary<unknown> {
    const bounds = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, MOST_ITEMS)) };
    const item = items ? of(items) : anything;
    const full = { minLength: bounds.maxLength, maxLength: Math.min(maxItems, 100) };
    const list = ({ minLength, maxLength }: typeof bounds) =>
      uniqueItems
        ? fc.uniqueArray(item, { maxLength, minLength: minItems, selector: (each) => JSON.stringify(each) })
        : fc.array(item, { minLength, maxLength });
    return full.maxLength > bounds.maxLength ? seldom(list(bounds), list(full)) : list(bounds);
  }

  function objectOf(schema: ValueSchema): fc.Arbitrary<unknown> {
    const { properties, required = [], additionalProperties, propertyNames } = schema;
    if (properties) {
      const fields = Object.fromEntries(
        Object.entries(properties).map(([key, child]) => [key, byName[key] ?? of(child)]),
      );
      const requiredKeys = required.filter((key) => key in fields);
      const needed = Object.fromEntries(requiredKeys.map((key) => [key, fields[key]!]));
      // What is optional often contradicts itself: it also comes not at all, and one by one.
      const optional = Object.keys(fields).filter((key) => !requiredKeys.includes(key));
      const withOne = (key: string) => fc.record({ ...needed, [key]: fields[key]! }, { noNullPrototype: true });
      return fc.oneof(
        fc.record(fields, { requiredKeys, noNullPrototype: true }),
        fc.record(needed, { noNullPrototype: true }),
        ...(optional.length > 0 ? [fc.constantFrom(...optional).chain(withOne)] : []),
      );
    }
    const names = propertyNames ? (of({ type: 'string', ...propertyNames }) as fc.Arbitrary<string>) : name;
    const value = typeof additionalProperties === 'object' ? of(additionalProperties) : anything;
    return fc.dictionary(names, value, {
      minKeys: schema.minProperties ?? 0,
      maxKeys: Math.min(schema.maxProperties ?? MOST_ITEMS, MOST_ITEMS),
      noNullPrototype: true,
    });
  }
  return of;
}

const name = fc.stringMatching(/^[a-z]\w{0,8}$/);
const anything = fc.jsonValue({ maxDepth: 2 });

function numberOf(schema: ValueSchema, type: string): fc.Arbitrary<number> {
  const { multipleOf } = schema;
  const min = schema.minimum ?? (schema.exclusiveMinimum === undefined ? -1000 : schema.exclusiveMinimum + 0.001);
  const max = schema.maximum ?? 1e6;
  const small = Math.min(max, Math.max(min, 50));
  if (type === 'integer' || multipleOf === 1) {
    const whole = { min: Math.ceil(min), max: Math.floor(max) };
    return seldom(
      fc.oneof(fc.integer({ ...whole, max: Math.floor(small) }), fc.integer(whole)),
      fc.constantFrom(whole.min, whole.max),
    );
  }
  return seldom(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max)).map((value) =>
    multipleOf ? Math.round(value / multipleOf) * multipleOf : value,
  );
}

function textOf({ pattern, format, minLength = 0, maxLength: given }: ValueSchema): fc.Arbitrary<string> {
  const maxLength = given ?? LONGEST_TEXT;
  const prefix = pattern && ID_PATTERN.exec(pattern)?.[1];
  if (prefix) return idInTurn(prefix);
  if (pattern && byPattern[pattern]) return byPattern[pattern];
  if (format && byFormat[format]) return byFormat[format];
  const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, LONGEST_TEXT)) };
  const fits = (text: string) => text.length >= minLength && [...text].length <= maxLength;
  if (pattern && pattern !== '\\S') {
    // As long as it may be, without waiting for chance to make it so.
    const repeated = pattern.replace(/[*+]\$$/, `{${Math.max(1, minLength)},${bounds.maxLength}}$`);
    return fc
      .stringMatching(new RegExp(repeated, 'u'))
      .filter((each) => new RegExp(pattern, 'u').test(each) && each.length <= maxLength);
  }
  const short = fc.oneof(fc.string({ ...bounds, unit: 'grapheme' }), fc.string(bounds));
  const text =
    maxLength > LONGEST_TEXT && given !== undefined
      ? seldom(short, longText(maxLength), maxLength > LARGE ? 200 : 20)
      : short;
  return pattern ? text.filter((each) => /\S/.test(each) && fits(each)) : text.filter(fits);
}

/** An example of the contract, in which others that the server has made stand in the places of its IDs and numbers. */
export function withTurns<T>(example: T): T {
  let place = 0;
  const text = JSON.stringify(example)
    .replaceAll(/"([a-z]+)_[0-9a-f]{32}"/g, (_, prefix: string) => `"<${prefix}:${place++}>"`)
    .replaceAll('+14155550100', '<number:0>');
  return JSON.parse(text) as T;
}
