import type { Clock, ClockTimer } from './clock.ts';

/** A timer that runs once unless it is cleared. */
export interface Timer {
  clear(): void;
}

/** All timers of a user agent, so that stopping it leaves none. */
export class Timers {
  readonly #clock: Clock;
  readonly #running = new Set<RunningTimer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, run: () => void): Timer {
    return new RunningTimer(this.#clock, this.#running, ms, run);
  }

  /** Resolves after some milliseconds; never, where the timers were cleared meanwhile. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  get count(): number {
    return this.#running.size;
  }

  clearAll(): void {
    for (const timer of this.#running) timer.clear();
  }
}

class RunningTimer implements Timer {
  readonly #clock: Clock;
  readonly #running: Set<RunningTimer>;
  readonly #timer: ClockTimer;

  constructor(clock: Clock, running: Set<RunningTimer>, ms: number, run: () => void) {
    this.#clock = clock;
    this.#running = running;
    running.add(this);
    this.#timer = clock.setTimeout(() => {
      running.delete(this);
      run();
    }, ms);
  }

  clear(): void {
    if (this.#running.delete(this)) this.#clock.clearTimeout(this.#timer);
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
