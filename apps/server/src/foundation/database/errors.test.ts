import pg from 'pg';
import { expect, test } from 'vitest';
import { isDatabaseLost, translated } from './errors.ts';

const driver = (code: string) =>
  Object.assign(new pg.DatabaseError('refused', 7, 'error'), { severity: 'FATAL', code });
const system = Object.assign(new Error('connect ENOENT /tmp/.s.PGSQL.5432'), { code: 'ENOENT', syscall: 'connect' });

test.each([
  ['a socket that is gone', system, true],
  ['a server that ends', driver('57P01'), true],
  ['a connection that ends', new Error('Connection terminated unexpectedly'), true],
  ['a row that there is already', driver('23505'), false],
  ['a defect', new TypeError('undefined is not a function'), false],
])('%s is a lost database, or none, also as the copy of it that the job queue tells of', (_, error, isLost) => {
  const copy = { ...error, message: error.message, stack: error.stack };
  expect([error, copy].map((each) => isDatabaseLost(translated(each)))).toEqual([isLost, isLost]);
});

test('what is no error is none of a lost database', () => {
  for (const thrown of [undefined, null, 'ECONNREFUSED', {}]) expect(translated(thrown)).toBe(thrown);
});
