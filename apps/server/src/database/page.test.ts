import { expect, test } from 'vitest';
import { containing, pageRows } from './page.ts';

test('pages count from 1', () => {
  expect(pageRows({ page: 1, perPage: 20 })).toEqual({ limit: 20, offset: 0 });
  expect(pageRows({ page: 3, perPage: 20 })).toEqual({ limit: 20, offset: 40 });
});

test('a search finds wildcards as they are typed', () => {
  expect(containing('50%_\\')).toBe('%50\\%\\_\\\\%');
});
