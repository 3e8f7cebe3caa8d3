/** Business time: windows, retries, schedules. Leases use the database's clock instead (engine.md, "Time"). */
export interface Clock {
  /** The current instant. */
  now(): Date;
}

/** The UTC day that the limits per day count by, as `workspace_usage` names it. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

/** The start of the UTC day, and of the next, at which the counts of the day before no longer hold. */
export const startOfUtcDay = (at: Date): Date => new Date(`${utcDay(at)}T00:00:00Z`);
export const nextUtcDay = (at: Date): Date => new Date(startOfUtcDay(at).getTime() + 86_400_000);

export const systemClock: Clock = { now: () => new Date() };
