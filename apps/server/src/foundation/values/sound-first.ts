import { setTimeout as sleep } from 'node:timers/promises';

/** Sound has to be on time for so long, in ms, before others go on. */
const ON_TIME_MS = 100;
/** The longest wait for that, in ms: a machine that is too small for its calls must not keep a file waiting for ever. */
const LONGEST_WAIT_MS = 1000;

let lateAt = Number.NEGATIVE_INFINITY;

/** Notes that the sound of calls of this process leaves late now. */
export function noteLateSound(): void {
  lateAt = performance.now();
}

/** Lets the sound of calls go first: to be awaited between pieces of work that can wait, such as the parts of a file. */
export async function soundFirst(): Promise<void> {
  const until = performance.now() + LONGEST_WAIT_MS;
  for (let now = performance.now(); now < Math.min(lateAt + ON_TIME_MS, until); now = performance.now())
    await sleep(Math.min(lateAt + ON_TIME_MS, until) - now);
}
