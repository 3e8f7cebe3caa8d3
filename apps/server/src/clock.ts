/** Business time: windows, retries, schedules. Leases use the database's clock instead (engine.md, "Time"). */
export interface Clock {
  /** The current instant. */
  now(): Date;
}

/** The UTC day that the limits per day count by, as `workspace_usage` names it. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

export const systemClock: Clock = { now: () => new Date() };
