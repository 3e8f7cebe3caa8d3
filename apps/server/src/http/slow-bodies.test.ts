import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchBodies } from './slow-bodies.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** The second in which a body that brings so many bytes a second is given up, of the first 40. */
function endOf(bytesPerSecond: number): number | undefined {
  const onTooSlow = vi.fn();
  const body = { seconds: 0, bytes: 0, onTooSlow };
  watchBodies().add(body);
  for (let second = 1; second <= 40; second += 1) {
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
