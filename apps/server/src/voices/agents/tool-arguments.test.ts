import { expect, test } from 'vitest';
import { readArguments, schemaFault } from './tool-arguments.ts';

const schema = { type: 'object', required: ['day'], properties: { day: { type: 'string', maxLength: 10 } } };

test.each([
  [{ type: 'string' }, 'must be the schema of an object'],
  [{ type: 'object', properties: { a: { pattern: '^(a+)+$' } } }, 'must not have the keyword pattern'],
  [{ type: 'object', properties: { a: { $ref: 'https://example.com/' } } }, 'must not have the keyword $ref'],
  [{ type: 'object', properties: { a: 7 } }, 'must hold schemas'],
  [{ type: 'object', required: 'day' }, 'is no JSON Schema'],
  [{ type: 'object', description: 'x'.repeat(20_000) }, 'must have at most 16384 bytes'],
])('%j is refused', (bad, fault) => {
  expect(schemaFault(bad)).toContain(fault);
});

test('a schema that is too deep is refused', () => {
  let deep: object = { type: 'string' };
  for (let depth = 0; depth < 20; depth += 1) deep = { type: 'object', properties: { a: deep } };
  expect(schemaFault(deep)).toBe('must be at most 8 schemas deep');
  expect(schemaFault(schema)).toBeUndefined();
});

test('arguments are read as the database can keep them, or what is wrong is told', () => {
  expect(readArguments(schema, '{"day":"a\\u0000b\\ud800","__proto__":{"x":1}}')).toEqual({ day: 'ab' });
  expect(readArguments({ type: 'object' }, '')).toEqual({});
  expect(() => readArguments(schema, '{')).toThrow('The arguments are no JSON.');
  expect(() => readArguments(schema, '{"day":7}')).toThrow('/day must be string');
  expect(() => readArguments(schema, '[]')).toThrow('must be object');
});
