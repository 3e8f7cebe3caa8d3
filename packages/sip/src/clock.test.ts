import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

test('the system clock runs what was set, and nothing that was cleared', async () => {
  const ran: string[] = [];
  systemClock.clearTimeout(systemClock.setTimeout(() => ran.push('cleared'), 1));
  await new Promise<void>((resolve) => systemClock.setTimeout(resolve, 5));
  expect(ran).toEqual([]);
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
});
