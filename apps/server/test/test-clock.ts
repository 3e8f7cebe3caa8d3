import type { SimulatorTime } from '../src/telephony/simulator/time.ts';

/** A clock that starts at any instant, goes on by itself, and can be moved ahead. */
export interface TestClock extends SimulatorTime {
  /** Moves it on by some milliseconds; what falls due on the way happens now. */
  jump(milliseconds: number): void;
  jumpTo(instant: string): void;
}

interface Wake {
  at: number;
  run: () => void;
  timer: NodeJS.Timeout;
}

/** @param start an instant in RFC 3339 */
export function testClock(start: string): TestClock {
  let ahead = Date.parse(start) - Date.now();
  const wakes = new Set<Wake>();
  const now = () => Date.now() + ahead;
  const arm = (wake: Wake) => {
    clearTimeout(wake.timer);
    wake.timer = setTimeout(
      () => {
        if (wake.at > now()) return arm(wake);
        wakes.delete(wake);
        wake.run();
      },
      Math.min(Math.max(wake.at - now(), 0), 2 ** 31 - 1),
    );
  };
  const jump = (milliseconds: number) => {
    ahead += milliseconds;
    for (const wake of wakes) arm(wake);
  };
  return {
    now: () => new Date(now()),
    wakeAt: (at, run) => {
      const wake = { at, run } as Wake;
      wakes.add(wake);
      arm(wake);
      return () => {
        clearTimeout(wake.timer);
        wakes.delete(wake);
      };
    },
    jump,
    jumpTo: (instant) => jump(Date.parse(instant) - now()),
  };
}
