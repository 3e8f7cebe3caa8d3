import { apartAt, PACE_SLACK_MS, type TrunkRoom, takeStart } from '../../../lines/trunks/trunk-room.ts';

/**
 * How far ahead the first start is at least, in milliseconds: the claim has to commit first. With less than that takes,
 * every start would come too late, and nothing at all be placed; so it grows with what claims take, up to a bound.
 */
export const LEAD_MS = 120;
const MOST_LEAD_MS = 2000;
/** How far after the first start the last one is at most: with the usual lead 250 ms ahead (dialing.md, "Claims"). */
const SPAN_MS = 130;
/** How late a call without a rate may be placed, in milliseconds. */
const UNPACED_SLACK_MS = 1000;

/** When a call is to be placed, and from when on it is too late. */
export interface Slot {
  startAt: Date;
  placeBefore: Date;
}

/** The lead of the next claim, after one that took so long: more at once, less by and by. Milliseconds. */
export const leadAfter = (leadMs: number, tookMs: number): number =>
  Math.min(Math.max(LEAD_MS, 1.5 * tookMs, 0.9 * leadMs), MOST_LEAD_MS);

/**
 * The slots of at most `wanted` calls from now on, and the campaign's next start after them (GCRA).
 * @param leadMs how far ahead the first start is at least
 */
export function takeSlots(
  callsPerSecond: number | null,
  nextStartAt: Date,
  now: Date,
  wanted: number,
  leadMs: number = LEAD_MS,
): { slots: Slot[]; nextStartAt: Date } {
  if (callsPerSecond === null) {
    const slot = { startAt: now, placeBefore: new Date(now.getTime() + UNPACED_SLACK_MS) };
    return { slots: Array.from({ length: wanted }, () => slot), nextStartAt };
  }
  const apart = apartAt(callsPerSecond);
  const slots: Slot[] = [];
  let next = Math.max(nextStartAt.getTime(), now.getTime() + leadMs);
  while (slots.length < wanted && next <= now.getTime() + leadMs + SPAN_MS) {
    slots.push({ startAt: new Date(next), placeBefore: new Date(next + PACE_SLACK_MS) });
    next += apart;
  }
  return { slots, nextStartAt: new Date(Math.ceil(next)) };
}

/** The last start that a claim may give at a time. */
export const lastStart = (now: Date, leadMs: number): Date => new Date(now.getTime() + leadMs + SPAN_MS);

/**
 * The slots of calls of which each may have a trunk: as `takeSlots`, and each trunk's pace kept too, so that a call may
 * start later for it. The trunks' next starts are moved on.
 */
export function takeSlotsOver(
  callsPerSecond: number | null,
  nextStartAt: Date,
  trunks: readonly (TrunkRoom | undefined)[],
  now: Date,
  leadMs: number = LEAD_MS,
): { slots: Slot[]; nextStartAt: Date } {
  if (trunks.every((trunk) => !trunk)) return takeSlots(callsPerSecond, nextStartAt, now, trunks.length, leadMs);
  const lead = new Date(now.getTime() + leadMs);
  let next = callsPerSecond === null ? now : new Date(Math.max(nextStartAt.getTime(), lead.getTime()));
  const slots = trunks.map((trunk): Slot => {
    const earliest = trunk && next < lead ? lead : next;
    const startAt = trunk ? takeStart(trunk, earliest) : earliest;
    const isPaced = trunk !== undefined || callsPerSecond !== null;
    if (callsPerSecond !== null) next = new Date(Math.ceil(startAt.getTime() + apartAt(callsPerSecond)));
    return { startAt, placeBefore: new Date(startAt.getTime() + (isPaced ? PACE_SLACK_MS : UNPACED_SLACK_MS)) };
  });
  return { slots, nextStartAt: callsPerSecond === null ? nextStartAt : next };
}

/** When the next slot of a campaign can be claimed with its lead. */
export const nextSlotClaim = (nextStartAt: Date, leadMs: number = LEAD_MS): Date =>
  new Date(nextStartAt.getTime() - leadMs);
