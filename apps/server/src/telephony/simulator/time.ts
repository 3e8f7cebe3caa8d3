import type { Clock } from '../../clock.ts';

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

/** A clock that stands still until it is told to move. */
export interface SteppedTime extends SimulatorTime {
  /** Moves the clock on and runs, in order, everything that falls due on the way. */
  advance(milliseconds: number): void;
}

/** A clock for tests, which starts at `start`. */
export function steppedTime(start: Date): SteppedTime {
  let now = start.getTime();
  const wakes = new Set<{ at: number; run: () => void }>();
  const nextUntil = (end: number) => [...wakes].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => new Date(now),
    wakeAt(at, run) {
      const wake = { at, run };
      wakes.add(wake);
      return () => wakes.delete(wake);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (let wake = nextUntil(end); wake; wake = nextUntil(end)) {
        wakes.delete(wake);
        now = Math.max(now, wake.at);
        wake.run();
      }
      now = end;
    },
  };
}
