import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openLanes } from './lanes.ts';

/** Lanes whose work ends when it is told to. */
function setUp(most: number) {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const lanes = openLanes<number>(most, (item) => {
    begun.push(item);
    return new Promise((resolve) => ends.set(item, resolve));
  });
  const end = async (item: number) => {
    ends.get(item)!();
    await turn();
  };
  return { lanes, begun, end };
}

/** Whether a promise has been kept by now. */
async function isKept(promise: Promise<void>): Promise<boolean> {
  let kept = false;
  void promise.then(() => (kept = true));
  await turn();
  return kept;
}

test('items begin in their order, no more at a time than may, and room is told of once half have begun', async () => {
  const { lanes, begun, end } = setUp(2);
  const first = lanes.add([1, 2, 3, 4, 5]);
  expect(begun).toEqual([1, 2]);
  expect(await isKept(first)).toBe(false);
  await end(2);
  expect(begun).toEqual([1, 2, 3]);
  expect(await isKept(first)).toBe(true);

  // Half of what is added, behind what waits.
  const second = lanes.add([6, 7]);
  for (const item of [1, 3]) await end(item);
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(await isKept(second)).toBe(false);
  await end(4);
  expect(await isKept(second)).toBe(true);
  expect(lanes.waiting()).toBe(1);
});

test('more lanes begin what waits at once', () => {
  const { lanes, begun } = setUp(1);
  void lanes.add([1, 2, 3]);
  lanes.widen(3);
  expect(begun).toEqual([1, 2, 3]);
});

test('what is dropped does not begin, and what has begun is waited for', async () => {
  const { lanes, begun, end } = setUp(1);
  await expect(lanes.idle()).resolves.toBeUndefined();
  void lanes.add([1, 2, 3]);
  expect(lanes.drop()).toEqual([2, 3]);
  const idle = lanes.idle();
  expect(await isKept(idle)).toBe(false);
  await end(1);
  expect(await isKept(idle)).toBe(true);
  expect(begun).toEqual([1]);

  void lanes.add([4]);
  expect(begun).toEqual([1, 4]);
});
