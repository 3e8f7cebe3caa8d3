import type { SimulatorTime } from '../src/lines/telephony/simulator/time.ts';

/** A clock that tests move: business time, and the time that simulated calls live by. */
export interface TestClock extends SimulatorTime {
  /** Moves it on, or back. What falls due on the way happens now, each thing when the clock reads its time. */
  advance(milliseconds: number): void;
  /** @param instant where it is in RFC 3339 or as a date */
  set(instant: Date | string): void;
  /** Has this called whenever it was moved. */
  onMove(told: () => void): void;
}

interface Wake {
  at: number;
  run: () => void;
  timer?: NodeJS.Timeout;
}

/**
 * Goes on with the machine's clock, and ahead of it or behind.
 * @param start what it reads at first, the machine's time by default
 * @param options.stands has it stand still but for what the test moves
 */
export function testClock(start: Date | string = new Date(), { stands = false } = {}): TestClock {
  const machine = () => (stands ? 0 : Date.now());
  let ahead = new Date(start).getTime() - machine();
  const wakes = new Set<Wake>();
  const listeners: (() => void)[] = [];
  const now = () => machine() + ahead;
  const fire = (wake: Wake) => {
    clearTimeout(wake.timer);
    wakes.delete(wake);
    wake.run();
  };
  const arm = (wake: Wake) => {
    clearTimeout(wake.timer);
    if (stands) return;
    const milliseconds = Math.min(Math.max(wake.at - now(), 0), 2 ** 31 - 1);
    wake.timer = setTimeout(() => (wake.at > now() ? arm(wake) : fire(wake)), milliseconds);
  };
  const firstUntil = (end: number) => [...wakes].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  const advance = (milliseconds: number) => {
    const then = ahead + milliseconds;
    const next = () => firstUntil(machine() + then);
    for (let wake = next(); wake; wake = next()) {
      ahead = Math.max(ahead, wake.at - machine());
      fire(wake);
    }
    ahead = then;
    for (const wake of wakes) arm(wake);
    for (const told of listeners) told();
  };
  return {
    now: () => new Date(now()),
    wakeAt: (at, run) => {
      const wake = { at, run };
      wakes.add(wake);
      arm(wake);
      return () => {
        clearTimeout((wake as Wake).timer);
        wakes.delete(wake);
      };
    },
    advance,
    set: (instant) => advance(new Date(instant).getTime() - now()),
    onMove: (told) => void listeners.push(told),
  };
}
