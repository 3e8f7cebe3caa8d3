/** A timer that was set; only its clock knows what it is. */
export type ClockTimer = object;

/** Where time comes from. Tests hold their own, so that timers of 32 seconds are tested without waiting. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  setTimeout(run: () => void, ms: number): ClockTimer;
  clearTimeout(timer: ClockTimer): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
