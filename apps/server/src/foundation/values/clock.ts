/** Business time: windows, retries, schedules. Leases use the database's clock instead (architecture.md, "Time"). */
export interface Clock {
  /** The current instant. */
  now(): Date;
}

/** The UTC day that the limits per day count by, as `workspace_usage` names it. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

/** The start of the next UTC day, at which the counts of the day before no longer hold. */
export const nextUtcDay = (at: Date): Date => new Date(new Date(`${utcDay(at)}T00:00:00Z`).getTime() + 86_400_000);

export const systemClock: Clock = { now: () => new Date() };

/** How far the machine's clock may be from the database's, and how long asking for that one may take, in milliseconds. */
const MOST_OFF_MS = 5000;
const LONGEST_ASK_MS = 1000;

/**
 * The machine's clock, compared with the database's now and then. Where it jumps between two looks, the time that has
 * passed tells at once. While it is wrong, time is counted on from where it was right last, so that nothing is written for
 * a time that is hours away.
 */
export interface MachineClock extends Clock {
  /**
   * Takes in what the database's clock read at the middle of a question. One that took too long is left out.
   * @param asked when it was asked, as `performance.now()` reads; the answer has just come
   */
  compare(asked: number, theirs: Date): void;
  /** How far it is ahead of the database's, in milliseconds; below zero where it is behind; undefined before a comparison. */
  aheadMs(): number | undefined;
  /** What it reads, right or wrong, in milliseconds since the epoch: it goes on while the machine sleeps. */
  read(): number;
  /** Whether it is known to be near enough to the database's: while it is not, nothing is claimed. */
  isRight(): boolean;
  /** What an operator should know of it; nothing while it is right. */
  fault(): string | undefined;
}

/** @param read the machine's time, in milliseconds since the epoch */
export function createMachineClock(read: () => number = Date.now): MachineClock {
  /** Between the machine's time and the time that has passed: at the last look, and when it was right last. */
  let atLook: number | undefined;
  let whenRight: number | undefined;
  let ahead = 0;
  const base = () => read() - performance.now();
  const aheadMs = () => (atLook === undefined ? undefined : ahead + base() - atLook);
  const isRight = () => Math.abs(aheadMs() ?? Number.POSITIVE_INFINITY) <= MOST_OFF_MS;
  return {
    now: () => {
      if (isRight()) return new Date(read());
      return new Date(whenRight === undefined ? read() - (aheadMs() ?? 0) : whenRight + performance.now());
    },
    compare: (asked, theirs) => {
      const took = performance.now() - asked;
      if (took > LONGEST_ASK_MS) return;
      atLook = base();
      ahead = read() - took / 2 - theirs.getTime();
      if (isRight()) whenRight = atLook;
    },
    aheadMs,
    read,
    isRight,
    fault: () => {
      if (isRight()) return undefined;
      const off = aheadMs();
      const how =
        off === undefined
          ? "could not be compared with the database's yet, which answers too slowly"
          : `is ${Math.round(off / 1000)} s ahead of the database's`;
      return `the clock of this machine ${how}: nothing is claimed`;
    },
  };
}
