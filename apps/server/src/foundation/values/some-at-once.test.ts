import { expect, test } from 'vitest';
import { someAtOnce } from './some-at-once.ts';

test('every item is done once, never more than so many at a time, and answered in order', async () => {
  let running = 0;
  let most = 0;
  const items = Array.from({ length: 20 }, (_, i) => i);
  const doubled = await someAtOnce(3, items, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turns = 0; turns <= item % 4; turns += 1) await Promise.resolve();
    running -= 1;
    return 2 * item;
  });
  expect(doubled).toEqual(items.map((item) => 2 * item));
  expect(most).toBe(3);
  expect(await someAtOnce(3, [], async () => 1)).toEqual([]);
});
