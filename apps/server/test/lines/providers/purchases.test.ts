import { test } from 'vitest';
import { expectPurchasesToBeAccountedFor } from './purchases.ts';

test('of 100 purchases with lost answers and dying servers each number is bought once, and none is unaccounted for', () =>
  expectPurchasesToBeAccountedFor(100, 'short'));
