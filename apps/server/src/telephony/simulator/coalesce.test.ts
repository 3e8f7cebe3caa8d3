import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('what is asked for while a set is worked on makes the next set', async () => {
  const sets: number[][] = [];
  const double = coalesce(100, async (items: number[]) => {
    sets.push(items);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return items.map((item) => item * 2);
  });
  const first = [double(1), double(2)];
  await Promise.resolve();
  const second = [double(3), double(4)];
  expect(await Promise.all([...first, ...second])).toEqual([2, 4, 6, 8]);
  expect(sets).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('a set has a largest size', async () => {
  const sizes: number[] = [];
  const same = coalesce(3, async (items: number[]) => {
    sizes.push(items.length);
    return items;
  });
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map(same));
  expect(sizes).toEqual([3, 3, 1]);
});

test('a failed set fails its own items, and the next is worked on', async () => {
  const work = coalesce(1, async (items: string[]) => {
    if (items[0] === 'bad') throw new Error('no');
    return items;
  });
  const [bad, good] = await Promise.allSettled([work('bad'), work('good')]);
  expect(bad.status).toBe('rejected');
  expect(good).toEqual({ status: 'fulfilled', value: 'good' });
});

test('idle waits for the work', async () => {
  let done = false;
  const work = coalesce(1, async (items: number[]) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    done = true;
    return items;
  });
  void work(1);
  await work.idle();
  expect(done).toBe(true);
});
