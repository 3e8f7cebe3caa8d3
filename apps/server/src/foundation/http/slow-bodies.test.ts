import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ofFiles, watchBodies } from './slow-bodies.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** The second in which a body that brings so many bytes a second is given up, of the first 4,000. */
function endOf(bytesPerSecond: number, terms?: typeof ofFiles, waitsFrom = 0): number | undefined {
  const onTooSlow = vi.fn();
  let second = 0;
  const body = { seconds: 0, bytes: 0, onTooSlow, isWaitedFor: () => second > waitsFrom };
  watchBodies(terms).add(body);
  for (second = 1; second <= 4000; second += 1) {
    body.bytes += bytesPerSecond;
    vi.advanceTimersByTime(1000);
    if (onTooSlow.mock.calls.length > 0) return second;
  }
  return undefined;
}

test('a body has 30 seconds, and after 10 of them as many KiB as seconds', () => {
  expect(endOf(1_000_000)).toBe(30);
  expect(endOf(1024)).toBe(30);
  expect(endOf(1023)).toBe(10);
  expect(endOf(0)).toBe(10);
});

test('a file has, after its first minute, as many KiB as there were seconds in which it was waited for', () => {
  expect(endOf(1024, ofFiles)).toBeUndefined();
  expect(endOf(1023, ofFiles)).toBe(60);
  expect(endOf(0, ofFiles)).toBe(60);
  expect(endOf(0, ofFiles, 100)).toBe(160);
});

test('who has come is not given up, and nobody is watched for nothing', () => {
  const watch = watchBodies();
  const onTooSlow = vi.fn();
  const body = { seconds: 0, bytes: 0, onTooSlow };
  watch.add(body);
  expect(vi.getTimerCount()).toBe(1);
  watch.remove(body);
  vi.advanceTimersByTime(60_000);
  expect([onTooSlow.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});
