import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { translated } from '../../foundation/database/errors.ts';
import { every } from './every.ts';

vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, _: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise<void>((resolve) => {
      rests.push(ms);
      signal.addEventListener('abort', () => resolve());
      setImmediate(resolve);
    }),
}));
const rests: number[] = [];
afterEach(() => void rests.splice(0));

/** A loop of which twenty runs fail, the first so many for want of the database. */
async function failing(lost: number) {
  const logged: { msg: string; failures: number }[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) });
  let runs = 0;
  const loop = every(
    100,
    async () => {
      runs += 1;
      if (runs <= 20)
        throw runs <= lost ? translated(Object.assign(new Error('away'), { syscall: 'connect' })) : new Error('away');
    },
    { name: 'test', log },
  );
  await vi.waitFor(() => expect(runs).toBeGreaterThan(21), { timeout: 60_000 });
  await loop.close();
  return logged;
}

test('what fails again and again rests longer, is logged ever more rarely, and told when it works again', async () => {
  const logged = await failing(0);
  expect(rests.slice(0, 8)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  expect(rests[20]).toBe(100);
  expect(logged.map(({ failures }) => failures)).toEqual([1, 2, 4, 8, 16, 20]);
  expect(logged.at(-1)!.msg).toBe('a background run works again');
});

test('a fault is told of at once, however long the database was away before', async () => {
  expect((await failing(8)).map(({ failures }) => failures)).toEqual([1, 2, 4, 8, 12]);
  expect(rests.slice(6, 9)).toEqual([5000, 5000, 5000]);
});
