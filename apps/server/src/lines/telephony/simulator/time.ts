import type { Clock } from '../../../foundation/values/clock.ts';

/** The clock that simulated calls live by. */
export interface SimulatorTime extends Clock {
  /** Runs once the clock reads `at` (milliseconds since the epoch) or later. The answer takes it back. */
  wakeAt(at: number, run: () => void): () => void;
}

const longestTimeout = 2 ** 31 - 1;

/** The machine's clock. A wake beyond 24 days comes early; the timeline then asks again. */
export const realTime: SimulatorTime = {
  now: () => new Date(),
  wakeAt(at, run) {
    const timer = setTimeout(run, Math.min(Math.max(at - Date.now(), 0), longestTimeout));
    return () => clearTimeout(timer);
  },
};
