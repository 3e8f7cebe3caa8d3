import { expect, test, vi } from 'vitest';
import { until } from '../../../test/until.ts';
import { Heartbeat } from './agent-heartbeat.ts';

test('each agent beats in its turn, once a second, by one timer that rests while there is none', async () => {
  const [set, cleared] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  const heartbeat = new Heartbeat(40);
  const beats = [0, 0, 0];
  const ends = beats.map((_, at) =>
    heartbeat.add(() => {
      beats[at]! += 1;
    }),
  );
  const timers = set.mock.results.filter((_, at) => set.mock.calls[at]![1] === 2);
  expect(timers).toHaveLength(1);
  await until(() => beats.every((count) => count >= 3));
  // By turns none is more than one ahead.
  expect(Math.max(...beats) - Math.min(...beats)).toBeLessThanOrEqual(1);
  ends[0]!();
  ends[0]!();
  const [first, second] = beats;
  await until(() => beats[1]! > second! + 2);
  expect(beats[0]).toBe(first);
  for (const end of ends) end();
  expect(cleared).toHaveBeenCalledWith(timers[0]!.value);
  vi.restoreAllMocks();
});
