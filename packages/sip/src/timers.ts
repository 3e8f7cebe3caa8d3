import type { Clock, ClockTimer } from './clock.ts';

/** A timer that runs once unless it is cleared. */
export interface Timer {
  clear(): void;
}

/** All timers of a user agent, so that stopping it leaves none. */
export class Timers {
  readonly #clock: Clock;
  readonly #running = new Set<ClockTimer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, run: () => void): Timer {
    const timer = this.#clock.setTimeout(() => {
      this.#running.delete(timer);
      run();
    }, ms);
    this.#running.add(timer);
    return {
      clear: () => {
        if (this.#running.delete(timer)) this.#clock.clearTimeout(timer);
      },
    };
  }

  /** Resolves after some milliseconds; never, where the timers were cleared meanwhile. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  get count(): number {
    return this.#running.size;
  }

  clearAll(): void {
    for (const timer of this.#running) this.#clock.clearTimeout(timer);
    this.#running.clear();
  }
}

/** The timers' values of RFC 3261, table 4, in milliseconds. */
export interface TimerValues {
  /** Round-trip estimate. */
  t1: number;
  /** Longest interval of retransmissions. */
  t2: number;
  /** How long a message stays in the network. */
  t4: number;
}

export const standardTimers: TimerValues = { t1: 500, t2: 4000, t4: 5000 };
