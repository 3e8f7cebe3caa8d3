import { expect, test } from 'vitest';
import { copyLines } from './copy-line.ts';
import type { ReadContact } from './reading/check-row.ts';

const contact = (values: string[], more: Partial<ReadContact> = {}): ReadContact => ({
  row: 2,
  phoneNumber: 14155550101,
  country: 'US',
  name: undefined,
  timezone: undefined,
  values,
  ...more,
});

test('missing cells are NULL, empty ones are empty', () => {
  const lines = copyLines('w', 'u', [0, 1]);
  expect(lines([contact(['', 'Lima']), contact(['a', 'b'], { row: 3, name: 'Ana', timezone: 'UTC' })])).toBe(
    'w\tu\t14155550101\t2\t\\N\t\\N\t{"","Lima"}\nw\tu\t14155550101\t3\tAna\tUTC\t{"a","b"}\n',
  );
});

test('values stand at their places in the columns of the list, with NULL between and nothing after', () => {
  expect(copyLines('w', 'u', [3, 1])([contact(['d', 'b'])])).toMatch(/\{NULL,"b",NULL,"d"\}\n$/);
  expect(copyLines('w', 'u', [])([contact([])])).toMatch(/\{\}\n$/);
});

test('what means something to COPY or to an array literal is escaped', () => {
  const line = copyLines('w', 'u', [0])([contact(['a"b\\c\td\ne\rf,{}'], { name: 'x\ty\\N' })]);
  expect(line).toBe('w\tu\t14155550101\t2\tx\\ty\\\\N\t\\N\t{"a\\\\"b\\\\\\\\c\\td\\ne\\rf,{}"}\n');
});
