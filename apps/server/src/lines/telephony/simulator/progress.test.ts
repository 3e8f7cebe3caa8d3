import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planCall } from './plan.ts';
import { eventsOf, type StoredCall, stateOf } from './progress.ts';

const placedAt = new Date('2026-03-01T12:00:00Z');
const stored = (suffix: string): StoredCall => ({
  roomId: '018f0000-0000-7000-8000-000000000001',
  to: `+1415555${suffix}`,
  attempt: 1,
  placedAt,
  ringTimeoutSeconds: 30,
  maxCallSeconds: 600,
  placements: 1,
});
const later = (milliseconds: number) => new Date(placedAt.getTime() + milliseconds);

test('a lookup at any instant tells what the events up to then have told', () => {
  const suffix = fc.constantFrom('0100', '0103', '0104', '0108', '0117', '0186', '4711', '4712', '4713');
  const speed = fc.constantFrom(1, 7, 60);
  fc.assert(
    fc.property(suffix, speed, fc.integer({ min: 0, max: 300_000 }), (digits, times, elapsed) => {
      const call = stored(digits);
      const plan = planCall('seed', call);
      const happened = eventsOf(call.roomId, placedAt, plan, times).filter(({ at }) => at <= later(elapsed));
      const state = stateOf(call, plan, times, later(elapsed));
      const last = happened.at(-1);
      expect(state.state === 'live' ? state.phase : 'ended').toBe(last?.type ?? 'dialing');
      expect(state.ringingAt).toEqual(happened.find(({ type }) => type === 'ringing')?.at);
      expect(state.answeredAt).toEqual(happened.find(({ type }) => type === 'answered')?.at);
      if (state.state === 'ended' && last?.type === 'ended') {
        expect(state).toMatchObject({ outcome: last.outcome, endedBy: last.endedBy, endedAt: last.at });
      }
    }),
  );
});

test('speed divides every span, and endless speed ends a call at once', () => {
  const plan = planCall('seed', stored('0100'));
  const spans = (speed: number) => eventsOf('room', placedAt, plan, speed).map(({ at }) => at.getTime() - +placedAt);
  expect(spans(10)).toEqual(spans(1).map((span) => Math.trunc(span / 10)));
  expect(spans(Number.POSITIVE_INFINITY)).toEqual([0, 0, 0]);
});

test('a stored end wins over the plan', () => {
  const call = stored('0100');
  const plan = planCall('seed', call);
  const end = { at: later((plan.answeredAfter ?? 0) + 1), by: 'service' as const, outcome: 'answered' as const };
  const state = stateOf({ ...call, ended: end }, plan, 1, later(3_600_000));
  expect(state).toMatchObject({ state: 'ended', endedBy: 'service', endedAt: end.at, outcome: 'answered' });
  expect(state.answeredAt).toEqual(later(plan.answeredAfter ?? 0));
});
