import { expect, test } from 'vitest';
import { loadContract } from './app.ts';
import { operationsIn, resolve } from './contract.ts';
import { type WordedFault, wordFaults } from './word-faults.ts';

const fault = (path: string, keyword: string, message = keyword): WordedFault => ({ path, keyword, message });
const worded = (...faults: WordedFault[]) => wordFaults(faults).map(({ path, message }) => `${path} ${message}`);

const choice = fault('/body', 'oneOf', 'must match exactly one schema in oneOf');
const numberUnknown = fault('/body/fromNumber', 'additionalProperties');
const poolMissing = fault('/body/numberPoolId', 'required');

test('names only the faults of the shape that was meant', () => {
  const tooLate = fault('/body/scheduleEnd', 'maximum', 'must be <= 1440');
  expect(worded(tooLate, poolMissing, numberUnknown, tooLate, choice)).toEqual(['/body/scheduleEnd must be <= 1440']);
  const unknown = fault('/body/foo', 'additionalProperties');
  expect(worded(unknown, poolMissing, numberUnknown, unknown, choice)).toEqual(['/body/foo is not a known property']);
});

test('says what is to be chosen where both or none was sent', () => {
  const message = '/body must have exactly one of fromNumber and numberPoolId';
  const poolUnknown = fault('/body/numberPoolId', 'additionalProperties');
  expect(worded(poolUnknown, numberUnknown, choice)).toEqual([message]);
  expect(worded(fault('/body/fromNumber', 'required'), poolMissing, choice)).toEqual([message]);
  const nameMissing = fault('/body/name', 'required');
  expect(worded(nameMissing, fault('/body/fromNumber', 'required'), nameMissing, poolMissing, choice)).toEqual([
    message,
    '/body/name is required',
  ]);
});

test('names null only where the type is wrong', () => {
  const orNull = fault('/body/label', 'type', 'must be null');
  const either = fault('/body/label', 'oneOf');
  expect(worded(fault('/body/label', 'minLength', 'too short'), orNull, either)).toEqual(['/body/label too short']);
  expect(worded(fault('/body/label', 'type', 'must be string'), orNull, either)).toEqual([
    '/body/label must be string or null',
  ]);
});

test('names the types of a value in one fault, unless one was meant', () => {
  const types = ['object', 'array', 'string'].map((type) => fault('/body/value', 'type', `must be ${type}`));
  const any = fault('/body/value', 'anyOf', 'must match a schema in anyOf');
  const other = fault('/body/valued', 'required');
  expect(worded(...types, any, other)).toEqual([
    '/body/valued is required',
    '/body/value must be object or array or string',
  ]);
  const tooLong = fault('/body/value', 'maxLength', 'must NOT have more than 9 characters');
  expect(worded(types[0]!, types[1]!, tooLong, any)).toEqual([`/body/value ${tooLong.message}`]);
  const within = fault('/body/value/0', 'type', 'must be string');
  expect(worded(types[0]!, types[2]!, within, any)).toEqual(['/body/value/0 must be string']);
  const required = fault('/body/value/of', 'required');
  expect(worded(types[2]!, required, any)).toEqual(['/body/value/of is required']);
  expect(worded(types[0]!, tooLong, any)).toEqual([`/body/value ${tooLong.message}`]);
});

test('of a filter that takes a value or several, names what is wrong with those that were sent', () => {
  const word = 'must be equal to one of the allowed values: a, b';
  const any = fault('/query/status', 'anyOf', 'must match a schema in anyOf');
  const one = [fault('/query/status', 'enum', word), fault('/query/status', 'type', 'must be array')];
  expect(worded(...one, any)).toEqual([`/query/status ${word}`]);
  const list = [fault('/query/status', 'type', 'must be string'), fault('/query/status', 'enum', word)];
  expect(worded(...list, fault('/query/status/1', 'enum', word), any)).toEqual([`/query/status/1 ${word}`]);
});

test('leaves a choice that it does not know as it is', () => {
  const [one, two] = [fault('/body/a', 'minimum', 'must be >= 1'), fault('/body/b', 'required')];
  expect(worded(one, two, choice)).toEqual([
    '/body/a must be >= 1',
    '/body/b is required',
    '/body must match exactly one schema in oneOf',
  ]);
});

test('leaves out that a shape did not match where its own faults are named', () => {
  const required = fault('/body/nodes/0/next', 'required');
  expect(worded(required, fault('/body/nodes/0', 'if'))).toEqual(['/body/nodes/0/next is required']);
});

test('puts patterns into words', () => {
  const pattern = (text: string) => worded(fault('/x', 'pattern', `must match pattern "${text}"`))[0];
  expect(pattern('^\\+[1-9][0-9]{6,14}$')).toBe('/x must be a phone number in E.164 form, such as +14155550100');
  expect(pattern('^cmp_[0-9a-f]{32}$')).toBe('/x must be an ID: cmp_ and 32 hexadecimal digits in lower case');
  expect(pattern('^[A-Z]{2}$')).toContain('such as US');
  expect(pattern('^https?://')).toBe('/x must be an https:// URL');
  expect(pattern('^[0-9]{3}$')).toBe('/x must match pattern "^[0-9]{3}$"');
  expect(worded(fault('/x', 'format', 'must match format "date-time"'))[0]).toContain('2026-11-20T09:30:00Z');
  expect(worded(fault('/x', 'format', 'must match format "date"'))[0]).toContain('2026-12-25');
  expect(worded(fault('/x', 'format', 'must match format "ipv4"'))).toEqual(['/x must match format "ipv4"']);
});

test('has words for every pattern and format that the contract asks of requests', () => {
  const found = new Set<string>();
  const visit = (node: unknown, seen: Set<unknown>): void => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    const { $ref, pattern, format } = node as Record<string, unknown>;
    if (typeof $ref === 'string') visit(resolve(document, { $ref }), seen);
    if (typeof pattern === 'string') found.add(words('pattern', `must match pattern "${pattern}"`));
    if (typeof format === 'string') found.add(words('format', `must match format "${format}"`));
    for (const [name, child] of Object.entries(node)) if (!name.startsWith('example')) visit(child, seen);
  };
  const document = loadContract();
  const words = (keyword: string, message: string) => wordFaults([fault('/x', keyword, message)])[0]!.message;
  const seen = new Set<unknown>();
  for (const { operation, item } of operationsIn(document))
    visit([item.parameters, operation.parameters, operation.requestBody], seen);
  expect(found.size).toBeGreaterThan(20);
  // A file is no text that could be wrong.
  expect([...found].filter((message) => /must match/.test(message))).toEqual(['must match format "binary"']);
});
