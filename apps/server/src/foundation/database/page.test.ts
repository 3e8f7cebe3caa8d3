import { expect, test } from 'vitest';
import { pageAnswer, pageOf, pageRows } from './page.ts';

test('pages count from 1, and one row more tells whether there is another', () => {
  expect(pageRows({ page: 1, perPage: 20 })).toEqual({ limit: 21, offset: 0 });
  expect(pageRows({ page: 3, perPage: 20 })).toEqual({ limit: 21, offset: 40 });
  expect(pageRows({ page: 3, perPage: 20, after: ['x'] })).toEqual({ limit: 21, offset: 0 });
});

test('a cursor leads to the page after, with the count of the first', () => {
  const found = { rows: ['a'], totalCount: 9, end: [new Date('2026-11-20T12:00:00.000Z'), 'id'] };
  const { nextCursor } = pageAnswer(pageOf({ perPage: 1 }), found, (row) => row);
  expect(pageOf({ perPage: 1, cursor: nextCursor! })).toEqual({
    page: 2,
    perPage: 1,
    order: 'desc',
    totalCount: 9,
    after: ['2026-11-20T12:00:00.000Z', 'id'],
  });
  expect(pageAnswer(pageOf({}), { rows: ['a'], totalCount: 1 }, (row) => row)).not.toHaveProperty('nextCursor');
});

test('without a count a page tells none, nor does the next', () => {
  const found = { rows: ['a'], totalCount: undefined, end: ['id'] };
  const page = pageAnswer(pageOf({ includeTotal: false }), found, (row) => row);
  expect(page).not.toHaveProperty('totalCount');
  expect(pageOf({ cursor: page.nextCursor! })).toMatchObject({ totalCount: undefined, after: ['id'] });
});

test('a walk of a million pages stays within the numbers that pages have', () => {
  const found = { rows: [], totalCount: 1, end: ['id'] };
  const page = pageOf({ cursor: JSON.stringify([1_000_000, 1, 'id']) });
  expect(pageAnswer(page, found, (row) => row).nextCursor).toBe(JSON.stringify([1_000_000, 1, 'id']));
});

test.each([
  [[]],
  [['1', 1, 'id']],
  [[0, 1, 'id']],
  [[1_000_001, 1, 'id']],
  [[2, -1, 'id']],
  [[2, 0.5, 'id']],
  [[2, 1, null]],
  [[2, 1, { id: 1 }]],
])('a place of %j is no place', (place) => {
  expect(() => pageOf({ cursor: JSON.stringify(place) })).toThrow('query/cursor must be the nextCursor');
});
