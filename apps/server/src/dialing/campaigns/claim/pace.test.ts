import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PACE_SLACK_MS } from '../../../lines/trunks/trunk-room.ts';
import { LEAD_MS, leadAfter, nextSlotClaim, takeSlots } from './pace.ts';

test('without a rate every call starts now', () => {
  const now = new Date('2026-11-20T10:00:00Z');
  const { slots, nextStartAt } = takeSlots(null, new Date(0), now, 3);
  expect(slots.map((slot) => slot.startAt)).toEqual([now, now, now]);
  expect(nextStartAt).toEqual(new Date(0));
});

test('a campaign that has waited gets starts that a slow claim can still keep', () => {
  const now = new Date('2026-11-20T10:00:00Z');
  const { slots, nextStartAt } = takeSlots(1, new Date(0), now, 5);
  expect(slots).toHaveLength(1);
  expect(slots[0]!.startAt.getTime() - now.getTime()).toBeGreaterThanOrEqual(100);
  const [next] = takeSlots(1, nextStartAt, nextSlotClaim(nextStartAt), 5).slots;
  expect(next!.startAt).toEqual(nextStartAt);
});

test('where claims take longer, the next ones have a longer lead, and by and by the usual one again', () => {
  let lead = leadAfter(LEAD_MS, 400);
  expect(lead).toBe(600);
  const now = new Date('2026-11-20T10:00:00Z');
  const { slots, nextStartAt } = takeSlots(1, new Date(0), now, 5, lead);
  expect(slots.map((slot) => slot.startAt.getTime() - now.getTime())).toEqual([600]);
  expect(takeSlots(1, nextStartAt, nextSlotClaim(nextStartAt, lead), 5, lead).slots[0]!.startAt).toEqual(nextStartAt);
  expect(leadAfter(lead, 60_000)).toBe(2000);
  for (let claim = 0; claim < 30; claim += 1) lead = leadAfter(lead, 5);
  expect(lead).toBe(LEAD_MS);
});

test('no second holds more placements than the rate, however late each is within its slack', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0.1, max: 20, noNaN: true })),
      fc.array(
        fc.tuple(
          fc.integer({ min: 0, max: 700 }),
          fc.integer({ min: 1, max: 50 }),
          fc.integer({ min: LEAD_MS, max: 2000 }),
        ),
        { minLength: 1, maxLength: 40 },
      ),
      fc.infiniteStream(fc.integer({ min: 0, max: PACE_SLACK_MS - 1 })),
      (rate, turns, lateness) => {
        let now = Date.parse('2026-11-20T10:00:00Z');
        let next = new Date(0);
        const placed: number[] = [];
        for (const [wait, wanted, lead] of turns) {
          now += wait;
          const taken = takeSlots(rate, next, new Date(now), wanted, lead);
          next = taken.nextStartAt;
          for (const slot of taken.slots) placed.push(slot.startAt.getTime() + lateness.next().value);
        }
        placed.sort((a, b) => a - b);
        const most = Math.max(1, Math.floor(rate));
        for (let i = most; i < placed.length; i++) expect(placed[i]! - placed[i - most]!).toBeGreaterThanOrEqual(1000);
      },
    ),
  );
});
