/** From so many on a window bounds nothing: a server that places what it claims has fewer on their way. */
const WIDEST = 100;

/**
 * The window after a set of calls: one wider where all were placed in time, and half of what was on its way where some
 * came too late, but one at least, so that it is tried again.
 * @param waiting how many calls were on their way to their placement, with the set
 */
export function windowAfter(window: number, waiting: number, inTime: boolean): number {
  if (!inTime) return Math.max(1, Math.floor(Math.min(window, waiting) / 2));
  return window + 1 >= WIDEST ? Number.POSITIVE_INFINITY : window + 1;
}

/**
 * How many calls may be on their way from their claim to their placement: without a bound until some come too late. A
 * machine that is too slow would else claim calls only to give them back, and be the slower for it.
 */
export interface ClaimWindow {
  /** How many more may be claimed. */
  room(): number;
  claimed(calls: number): void;
  /** A set of claimed calls is on its way no longer. @param inTime whether all that could be placed were */
  settled(calls: number, inTime: boolean): void;
}

/** Nothing has come too late yet. */
export function createClaimWindow(): ClaimWindow {
  let window = Number.POSITIVE_INFINITY;
  let waiting = 0;
  return {
    room: () => Math.max(0, window - waiting),
    claimed: (calls) => {
      waiting += calls;
    },
    settled: (calls, inTime) => {
      window = windowAfter(window, waiting, inTime);
      waiting -= calls;
    },
  };
}
