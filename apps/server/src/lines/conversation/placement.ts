import type { PlaceResult } from '../telephony/call-gateway.ts';

/** After so long a call that was sent and is not refused counts as taken; its end is told as an event. */
const TAKEN_AFTER_MS = 1000;

/** What sets timers; tests count those that are left. */
export interface Timers {
  /** @returns what clears it */
  after(ms: number, run: () => void): () => void;
}

/** What whoever has placed a call waits for. What is said first holds. */
export class Placement {
  readonly result: Promise<PlaceResult>;
  readonly #timers: Timers;
  #resolve!: (result: PlaceResult | PromiseLike<PlaceResult>) => void;
  #clear = () => {};

  constructor(timers: Timers) {
    this.#timers = timers;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  accept(): void {
    this.#settle({ status: 'accepted' });
  }

  acceptSoon(): void {
    this.#clear = this.#timers.after(TAKEN_AFTER_MS, () => this.accept());
  }

  refuse(result: PlaceResult): void {
    this.#settle(result);
  }

  fail(error: unknown): void {
    this.#settle(Promise.reject(error));
  }

  #settle(result: PlaceResult | Promise<PlaceResult>): void {
    this.#clear();
    this.#resolve(result);
  }
}

export const systemTimers: Timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
