import { expect, test } from 'vitest';
import { expectPurchasesToBeAccountedFor } from './purchases.ts';

test.each(['one', 'two', 'three'])(
  'of 1,000 purchases (%s) with lost answers and dying servers each number is bought once, and none is unaccounted for',
  async (seed) => {
    await expectPurchasesToBeAccountedFor(1000, seed);
    expect.hasAssertions();
  },
  600_000,
);
