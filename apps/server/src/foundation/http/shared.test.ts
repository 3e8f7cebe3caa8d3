import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { shared } from './shared.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('a work is done once for all who ask at once, and for who asks soon after', async () => {
  let times = 0;
  const work = async () => {
    times += 1;
    return times;
  };
  const ask = shared(work, 1000);
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  vi.advanceTimersByTime(999);
  expect(await ask()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await ask()).toBe(2);
  const atOnce = shared(work);
  expect(await Promise.all([atOnce(), atOnce()])).toEqual([3, 3]);
  expect(await atOnce()).toBe(4);
});

test('a failure reaches all who wait for it, and nobody after them', async () => {
  const work = vi.fn(async () => 'fine').mockRejectedValueOnce(new Error('lost'));
  const ask = shared(work, 1000);
  expect((await Promise.allSettled([ask(), ask()])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe('fine');
});
