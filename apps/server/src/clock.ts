/** Business time: windows, retries, schedules. Leases use the database's clock instead (engine.md, "Time"). */
export interface Clock {
  /** The current instant. */
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
