import type { Clock, ClockTimer } from '../src/index.ts';

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  #timers = new Set<{ at: number; run: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(run: () => void, ms: number): ClockTimer {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(timer: ClockTimer): void {
    this.#timers.delete(timer as { at: number; run: () => void });
  }

  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves on, and runs what becomes due in its order; what that promises is kept before the next is run. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (!next || next.at > end) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settle();
    }
    this.#now = end;
  }
}

/** Lets promises that nothing outside holds up come true. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
