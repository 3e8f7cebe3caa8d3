import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Effort } from './rounds.ts';

const LOOK_MS = 500;
const LONGEST_MS = { whole: 30_000, quick: 2000 };
/** What a few idle servers take. */
const QUIET = 0.06;

/**
 * Waits until the machine has nothing left to do from what was measured last, such as a database that tidies up, so that
 * nobody pays for the one before. At most half a minute.
 */
export async function untilQuiet(effort: Effort = 'whole'): Promise<void> {
  const until = performance.now() + LONGEST_MS[effort];
  let before = cpuTimes();
  while (performance.now() < until) {
    await sleep(LOOK_MS);
    const now = cpuTimes();
    if ((now.busy - before.busy) / (now.all - before.all) < QUIET) return;
    before = now;
  }
  if (effort === 'whole') console.error('  the machine does not get quiet; the figures are less sure');
}

function cpuTimes(): { busy: number; all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const all = times.reduce((sum, each) => sum + each.user + each.nice + each.sys + each.idle + each.irq, 0);
  return { busy: all - times.reduce((sum, each) => sum + each.idle, 0), all };
}
