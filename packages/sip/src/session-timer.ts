import type { SessionInterval } from './session-interval.ts';
import type { Timer, Timers } from './timers.ts';

/** Ends a session that nobody refreshes, and refreshes it where that is ours to do (RFC 4028 section 10). */
export class SessionTimer {
  readonly #timers: Timers;
  readonly #refresh: () => Promise<unknown>;
  readonly #expire: () => void;
  #running: Timer[] = [];

  /** @param refresh resolves when it is over, whether or not it went well: then `start` was called again */
  constructor(timers: Timers, refresh: () => Promise<unknown>, expire: () => void) {
    this.#timers = timers;
    this.#refresh = refresh;
    this.#expire = expire;
  }

  /** A session was made or refreshed. */
  start(interval: SessionInterval | undefined): void {
    this.stop();
    if (!interval) return;
    const ms = interval.seconds * 1000;
    // Some time before it really ends, so that the BYE comes before the peer forgets the call.
    this.#running.push(this.#timers.after(ms - Math.min(32_000, ms / 3), () => this.#expire()));
    if (interval.refresher === 'local') this.#refreshAfter(ms / 2, ms / 10);
  }

  stop(): void {
    for (const timer of this.#running) timer.clear();
    this.#running = [];
  }

  #refreshAfter(ms: number, thenMs: number): void {
    const running = this.#running;
    running.push(
      this.#timers.after(ms, async () => {
        await this.#refresh();
        if (this.#running === running && running.length > 0) this.#refreshAfter(thenMs, thenMs);
      }),
    );
  }
}
