import { expect, test } from 'vitest';
import { faultNames } from './options.ts';
import { drawOrder } from './order.ts';

/** So many faults of a seed's order. */
function order(seed: number, count: number) {
  const drawn = drawOrder(seed, faultNames);
  return Array.from({ length: count }, () => drawn.next().value);
}

test('a seed makes its order again, with what each fault draws, and other seeds make others', () => {
  expect(order(7, 40)).toEqual(order(7, 40));
  const orders = Array.from({ length: 20 }, (_, seed) => JSON.stringify(order(seed, 40)));
  expect(new Set(orders).size).toBe(20);
});

test('each round has every fault once', () => {
  const names = order(7, 3 * faultNames.length).map(({ name }) => name);
  for (const round of [0, 1, 2])
    expect(names.slice(round * faultNames.length, (round + 1) * faultNames.length).toSorted()).toEqual(
      faultNames.toSorted(),
    );
});
