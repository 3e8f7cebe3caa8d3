import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('what is asked for while a set is worked on makes the next set', async () => {
  const sets: number[][] = [];
  const double = coalesce(async (items: number[]) => {
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
  const same = coalesce(
    async (items: number[]) => {
      sizes.push(items.length);
      return items;
    },
    { atMost: 3 },
  );
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map(same));
  expect(sizes).toEqual([3, 3, 1]);
});

test('a failed set fails its own items, and the next is worked on', async () => {
  const work = coalesce(
    async (items: string[]) => {
      if (items[0] === 'bad') throw new Error('no');
      return items;
    },
    { atMost: 1 },
  );
  const [bad, good] = await Promise.allSettled([work('bad'), work('good')]);
  expect(bad.status).toBe('rejected');
  expect(good).toEqual({ status: 'fulfilled', value: 'good' });
});

test('idle waits for the work', async () => {
  let done = false;
  const work = coalesce(async (_items: number[]) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    done = true;
  });
  void work(1);
  await work.idle();
  expect(done).toBe(true);
});

test('a set is gathered for its time, unless it is full', async () => {
  const sets: number[][] = [];
  const work = coalesce(
    async (items: number[]) => {
      sets.push(items);
    },
    { ms: 200, atMost: 3 },
  );
  const from = performance.now();
  void work(1);
  await new Promise((resolve) => setImmediate(resolve));
  await work(2);
  expect(sets).toEqual([[1, 2]]);
  expect(performance.now() - from).toBeGreaterThan(190);
});

test('a set is gathered for as long as the one before took, up to its most', async () => {
  const sets: number[][] = [];
  const work = coalesce(
    async (items: number[]) => {
      sets.push(items);
      await new Promise((resolve) => setTimeout(resolve, 200));
    },
    { mostMs: 300 },
  );
  await work(1);
  void work(2);
  await new Promise((resolve) => setImmediate(resolve));
  await work(3);
  expect(sets).toEqual([[1], [2, 3]]);
});

test('so many sets are worked on at a time, and what comes meanwhile is gathered', async () => {
  const sets: number[][] = [];
  const ends: (() => void)[] = [];
  const work = coalesce(
    (items: number[]) => {
      sets.push(items);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    { sets: 2, atMost: 2 },
  );
  for (const item of [1, 2, 3, 4, 5, 6, 7]) void work(item);
  await expect
    .poll(() => sets)
    .toEqual([
      [1, 2],
      [3, 4],
    ]);
  ends[1]!();
  await expect.poll(() => sets.length).toBe(3);
  expect(sets[2]).toEqual([5, 6]);
  for (const end of ends) end();
  await expect.poll(() => sets.length).toBe(4);
  ends[3]!();
  await work.idle();
});

test('what does not fit into a set is in a later one', async () => {
  const sets: number[][] = [];
  const work = coalesce(
    async (items: number[]) => {
      sets.push(items);
    },
    { fits: (set, item) => !set.includes(item) },
  );
  await Promise.all([1, 1, 2, 1].map(work));
  expect(sets).toEqual([[1, 2], [1], [1]]);
});

test('the items of a set that fails are done one by one where that is asked for', async () => {
  const work = coalesce(
    async (items: string[]) => {
      if (items.includes('bad')) throw new Error(`no, ${items.length}`);
      return items;
    },
    { oneByOne: true },
  );
  const settled = await Promise.allSettled(['a', 'bad', 'b'].map(work));
  expect(settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message))).toEqual([
    'a',
    'no, 1',
    'b',
  ]);
});
