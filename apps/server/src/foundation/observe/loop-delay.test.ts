import { expect, test } from 'vitest';
import { until } from '../../../test/until.ts';
import { loopFault, openLoopDelay } from './loop-delay.ts';

/** Lets nothing else run in this process. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a loop that was held up has been late for so long', async () => {
  const delay = openLoopDelay();
  expect(delay.worstMs()).toBeLessThan(1000);
  await until(() => {
    if (delay.worstMs() > 1000) return true;
    // It must have looked once before.
    block(1500);
    return false;
  });
  delay.close();
});

test('an operator is told of what is late by a second or more, and what to do', () => {
  expect(loopFault(0)).toBeUndefined();
  expect(loopFault(999)).toBeUndefined();
  expect(loopFault(2345)).toMatch(/was 2\.3 s late .* give the machine more CPU/);
});
