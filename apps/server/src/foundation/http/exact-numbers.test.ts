import { expect, test } from 'vitest';
import { parseExactly } from './exact-numbers.ts';

test.each([
  '0',
  '-0',
  '0.0',
  '1.50',
  '0.1',
  '1e3',
  '1.0E+2',
  '1e-7',
  '9007199254740991',
  '123456789012345680000',
  '1e21',
])('takes %s', (number) => {
  expect(parseExactly(`{"a":[${number}]}`)).toEqual({ a: [Number(number)] });
});

test.each(['9007199254740993', '12345678901234567890', '0.12345678901234567890', '1e400', '-1e-400'])(
  'refuses %s',
  (number) => {
    expect(() => parseExactly(`[{"a":${number}}]`)).toThrow(`such as ${number}: send it as text`);
  },
);

test('leaves texts as they are', () => {
  expect(parseExactly('{"a":"12345678901234567890"}')).toEqual({ a: '12345678901234567890' });
});
