import { Ajv2020 } from 'ajv/dist/2020.js';
import { chances } from '../../apps/server/test/chances.ts';
import { type Bundle, type Contract, examplesOf, operationsOf } from './bundle.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Answer {
  key: string;
  status: string;
  schema: object;
  example: Json;
}

const SEED = 27;
export const ANSWERS = 1000;
export const MORE = 'fromTomorrow';
export const VALUE = 'of_tomorrow';
const chance = chances(SEED);
const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(chance() * values.length)]!;
const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The examples of all answers in JSON, with their schemas. */
export function answersOf(contract: Contract): Answer[] {
  const resolved = <T extends { $ref?: string }>(value: T): T =>
    value.$ref
      ? (value.$ref
          .slice(2)
          .split('/')
          .reduce((found, key) => (found as never)[key], contract as unknown) as T)
      : value;
  return operationsOf(contract).flatMap(({ method, path, operation }) =>
    Object.entries(operation.responses).flatMap(([status, part]) => {
      const media = resolved(part).content?.['application/json'] as { schema: object } | undefined;
      const key = `${method} ${path}`;
      return media
        ? examplesOf(media).map((example) => ({ key, status, schema: media.schema, example: example as Json }))
        : [];
    }),
  );
}

/** What judges answers by a contract: the faults of one. */
export function judgeOf(contract: Contract) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...contract, $id: 'contract' });
  const known = new Map<string, ReturnType<typeof ajv.compile>>();
  return (schema: object, value: Json) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"contract#/');
    const check = known.get(text) ?? ajv.compile(JSON.parse(text));
    known.set(text, check);
    return check(value) ? [] : check.errors!;
  };
}

/** A copy with something else at each place, by what stands there. */
function changed(value: Json, change: (value: Json, at: string) => Json, at = ''): Json {
  const inside = Array.isArray(value)
    ? value.map((each, index) => changed(each, change, `${at}/${index}`))
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, change, `${at}/${key}`)]))
      : value;
  return change(inside, at);
}

const withField = (value: Json): Json => (isObject(value) ? { ...value, [MORE]: { a: 1 } } : value);
const withValue = (value: Json): Json => (typeof value === 'string' ? VALUE : value);

/** Where a later server may say more: by what the closed contract has against it. */
function roomIn(closed: ReturnType<typeof judgeOf>, { schema, example }: Answer) {
  const faults = closed(schema, changed(example, withField));
  const fields = faults.filter(
    ({ params }) => params['additionalProperty'] === MORE || params['unevaluatedProperty'] === MORE,
  );
  const values = closed(schema, changed(example, withValue)).filter(({ keyword }) => keyword === 'enum');
  const placesOf = (found: typeof faults) => [...new Set(found.map(({ instancePath }) => instancePath))];
  return { fields: placesOf(fields), values: placesOf(values) };
}

/** Answers of a server of tomorrow: each has a field and, where it has one of a closed list, a value that nobody knows. */
export function widened(bundle: Bundle): Answer[] {
  const closed = judgeOf(bundle.closed);
  // Errors are of one shape: those of a few operations stand for all.
  const isSeen = ({ status }: Answer, at: number) => status.startsWith('2') || at % 10 === 0;
  const written = answersOf(bundle.closed).filter(isSeen);
  const published = answersOf(bundle.contract).filter(isSeen);
  const rooms = written.map((answer) => roomIn(closed, answer));
  return Array.from({ length: ANSWERS }, (_, at) => {
    const index = at % written.length;
    const { fields, values } = rooms[index]!;
    const [field, value] = [oneOf(fields), oneOf(values)];
    const example = changed(published[index]!.example, (each, place) =>
      place === field ? withField(each) : place === value ? withValue(each) : each,
    );
    return { ...published[index]!, example };
  });
}
