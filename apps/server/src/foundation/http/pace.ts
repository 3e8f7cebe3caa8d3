/**
 * Says how many milliseconds a key is to wait after something that counts for so many. In the long run it has no more of
 * these than there are.
 */
export type Pace = (key: string, ms: number) => number;

/**
 * @param aheadMs so many a key has at once, before it waits
 * @param mostMs no wait is longer
 */
export function createPace(aheadMs: number, mostMs = Number.POSITIVE_INFINITY, clock = () => performance.now()): Pace {
  /** Until when the time goes that each has had. */
  const had = new Map<string, number>();
  return (key, ms) => {
    const at = clock();
    for (const [other, until] of had) if (until <= at) had.delete(other);
    const until = Math.min((had.get(key) ?? at) + ms, at + aheadMs + mostMs);
    had.set(key, until);
    return Math.max(0, until - at - aheadMs);
  };
}
