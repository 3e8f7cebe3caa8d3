import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TestClock, testClock } from '../../../../test/test-clock.ts';
import { createTimeline } from './timeline.ts';

const standing = () => testClock(new Date(0), { stands: true });

/** A standing clock that counts the wakes that are set. */
function countingTime(): TestClock & { waiting(): number } {
  const time = standing();
  let waiting = 0;
  return {
    ...time,
    waiting: () => waiting,
    wakeAt(at, run) {
      waiting += 1;
      const cancel = time.wakeAt(at, () => {
        waiting -= 1;
        run();
      });
      return () => {
        waiting -= 1;
        cancel();
      };
    },
  };
}

test('things come out in order of time, and of adding within a moment', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 200 }), (moments) => {
      const time = standing();
      const seen: { at: number; index: number }[] = [];
      const timeline = createTimeline<{ at: number; index: number }>(time, (items) => seen.push(...items));
      moments.forEach((at, index) => {
        timeline.add(at, { at, index });
      });
      time.advance(50);
      expect(seen).toEqual(
        moments.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at || a.index - b.index),
      );
    }),
  );
});

test('nothing comes before its time, and a set comes at once', () => {
  const time = standing();
  const sets: string[][] = [];
  const timeline = createTimeline<string>(time, (items) => sets.push(items));
  timeline.add(10, 'b');
  timeline.add(5, 'a');
  timeline.add(10, 'c');
  time.advance(4);
  expect(sets).toEqual([]);
  time.advance(6);
  expect(sets).toEqual([['a'], ['b', 'c']]);
});

test('one timer serves all, and none is left after clear', () => {
  const time = countingTime();
  const timeline = createTimeline<number>(time, () => {});
  for (let at = 1_000; at > 0; at -= 1) timeline.add(at, at);
  expect(time.waiting()).toBe(1);
  time.advance(500);
  expect(time.waiting()).toBe(1);
  timeline.clear();
  expect(time.waiting()).toBe(0);
});

test('what is added while running still comes', () => {
  const time = standing();
  const seen: number[] = [];
  const timeline = createTimeline<number>(time, (items) => {
    for (const item of items) {
      seen.push(item);
      if (item < 3) timeline.add(item + 1, item + 1);
    }
  });
  timeline.add(1, 1);
  time.advance(10);
  expect(seen).toEqual([1, 2, 3]);
});
