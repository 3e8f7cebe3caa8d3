/** How far ahead starts are handed out, in milliseconds (engine.md, "Claims"). */
const AHEAD_MS = 250;
/**
 * How far ahead the first start is at least, in milliseconds: the claim has to commit first. With none, a database where
 * that takes longer than the slack would see every start come too late, and place nothing at all.
 */
const LEAD_MS = 120;
/**
 * How late a paced call may be placed, in milliseconds. Starts stand apart by as much more, so that no second ever
 * holds more placements than the rate, also when one is late and the next ones are not.
 */
export const PACE_SLACK_MS = 50;
/** How late a call without a rate may be placed, in milliseconds. */
const UNPACED_SLACK_MS = 1000;

/** When a call is to be placed, and from when on it is too late. */
export interface Slot {
  startAt: Date;
  placeBefore: Date;
}

/** The slots of at most `wanted` calls from now on, and the campaign's next start after them (GCRA). */
export function takeSlots(
  callsPerSecond: number | null,
  nextStartAt: Date,
  now: Date,
  wanted: number,
): { slots: Slot[]; nextStartAt: Date } {
  if (callsPerSecond === null) {
    const slot = { startAt: now, placeBefore: new Date(now.getTime() + UNPACED_SLACK_MS) };
    return { slots: Array.from({ length: wanted }, () => slot), nextStartAt };
  }
  const apart = (1000 + PACE_SLACK_MS) / Math.min(callsPerSecond, Math.max(1, Math.floor(callsPerSecond)));
  const slots: Slot[] = [];
  let next = Math.max(nextStartAt.getTime(), now.getTime() + LEAD_MS);
  while (slots.length < wanted && next <= now.getTime() + AHEAD_MS) {
    slots.push({ startAt: new Date(next), placeBefore: new Date(next + PACE_SLACK_MS) });
    next += apart;
  }
  return { slots, nextStartAt: new Date(Math.ceil(next)) };
}

/** When the next slot of a campaign can be claimed with its lead. */
export const nextSlotClaim = (nextStartAt: Date): Date => new Date(nextStartAt.getTime() - LEAD_MS);
