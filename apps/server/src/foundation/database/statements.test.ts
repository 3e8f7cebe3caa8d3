import { expect, test } from 'vitest';
import { namedStatements } from './statements.ts';

test('a text has a name from its second time on, always the same and its own', () => {
  const statement = namedStatements();
  expect(statement('select 1').name).toBeUndefined();
  const { name } = statement('select 1');
  expect(name).toBeTypeOf('string');
  expect(statement('select 1')).toHaveProperty('text', 'select 1');
  expect(statement('select 1').name).toBe(name);
  statement('select 2');
  expect(statement('select 2').name).not.toBe(name);
});

test('names are few: neither long texts nor ever new ones fill a connection', () => {
  const statement = namedStatements();
  const long = `select '${'x'.repeat(30_000)}'`;
  const names = new Set<unknown>();
  for (const text of [long, long, ...Array.from({ length: 2000 }, (_, at) => `select ${at}, 0`)]) {
    for (let time = 0; time < 2; time += 1) names.add(statement(text).name);
  }
  names.delete(undefined);
  expect(names.size).toBeGreaterThan(100);
  expect(names.size).toBeLessThanOrEqual(500);
  expect(statement(long).name).toBeUndefined();
});
