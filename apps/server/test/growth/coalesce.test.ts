import { test } from 'vitest';
import { coalesce } from '../../src/foundation/values/coalesce.ts';
import { expectNoGrowth } from './cost-of-one.ts';

/** Items that ask for a place in a set and wait behind all others, while so many at a time are done. */
const inSets = (size: number, fits: (set: readonly number[], item: number) => boolean) => (others: number) => {
  let endSet = () => {};
  const work = (_items: number[]) => new Promise<void>((resolve) => (endSet = resolve));
  const ask = coalesce(work, { atMost: 50, fits });
  let asked = 0;
  const askFor = (items: number) => {
    for (let item = 0; item < items; item += 1) void ask(asked++);
  };
  askFor(others);
  return async (items: number) => {
    for (let done = 0; done < items; done += size) {
      askFor(size);
      endSet();
      await new Promise(setImmediate);
    }
  };
};

test('an item costs the same however many wait for a set', () => expectNoGrowth(inSets(50, () => true)));

test('an item costs the same however many wait that fit no set with it', () =>
  expectNoGrowth(inSets(1, (set) => set.length === 0)));
