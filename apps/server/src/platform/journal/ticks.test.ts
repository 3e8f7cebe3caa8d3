import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ticks } from './ticks.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Notifications of one topic, given by hand. */
function byHand() {
  const listeners = new Set<() => void>();
  return {
    hint: () => {
      for (const listener of listeners) listener();
    },
    listeners,
    subscribe: (_: string, listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

test('comes at once, at a hint, and after a second without one', async () => {
  const notifications = byHand();
  const stream = ticks(notifications, 'topic', new AbortController().signal);
  expect((await stream.next()).done).toBe(false);
  const arrived = vi.fn();
  const second = stream.next().then(arrived);
  await vi.advanceTimersByTimeAsync(300);
  expect(arrived).not.toHaveBeenCalled();
  notifications.hint();
  await second;
  const third = stream.next().then(arrived);
  await vi.advanceTimersByTimeAsync(999);
  expect(arrived).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  await third;
});

test('a hint that comes while the last one is worked at is not lost', async () => {
  const notifications = byHand();
  const stream = ticks(notifications, 'topic', new AbortController().signal);
  await stream.next();
  notifications.hint();
  notifications.hint();
  expect((await stream.next()).done).toBe(false);
  const arrived = vi.fn();
  void stream.next().then(arrived);
  await vi.advanceTimersByTimeAsync(500);
  expect(arrived).not.toHaveBeenCalled();
});

test('ends with its signal, and listens no longer', async () => {
  const notifications = byHand();
  const stop = new AbortController();
  const stream = ticks(notifications, 'topic', stop.signal);
  await stream.next();
  const next = stream.next();
  stop.abort();
  expect((await next).done).toBe(true);
  expect(notifications.listeners.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
