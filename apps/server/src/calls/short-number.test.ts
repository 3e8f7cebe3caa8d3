import { expect, test } from 'vitest';
import { isShortNumber } from './short-number.ts';

test.each([911, 112, 1911, 44999, 44112, 49112, 49110, 353999, 358112, 61000, 81119, 5511190, 49116117, 353116123])(
  '%i is never called',
  (digits) => expect(isShortNumber(digits)).toBe(true),
);

test.each([14155550100, 4930901820, 6834100, 29022345, 35312345678, 3545812345])('%i may be called', (digits) =>
  expect(isShortNumber(digits)).toBe(false),
);
