import { expect, test } from 'vitest';
import type { CallOutcome } from '../telephony/call-outcome.ts';
import { afterCalls, type TrunkEnd, type TrunkHealth } from './after-calls.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const after = (ms: number) => new Date(now.getTime() + ms);
const well: TrunkHealth = {
  unknownCalls: [],
  silentCalls: [],
  fullAnswers: 0,
  unansweredInvites: 0,
  slowedSince: null,
  slowedUntil: null,
};
let room = 0;
const end = (outcome: CallOutcome, given: Partial<TrunkEnd> = {}): TrunkEnd => ({
  roomId: `r${room++}`,
  outcome,
  ...given,
});
const full = () => end('trunk_error', { sipStatus: 503 });
const unknown = (sipStatus = 404) => end('invalid_number', { sipStatus });
const answered = (packetsReceived?: number) =>
  end('answered', { sipStatus: 200, ...(packetsReceived !== undefined && { packetsReceived }) });
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

test('answers without room slow a trunk, longer each time, and calls that it carries take that back', () => {
  let health = well;
  let at = now;
  const waits: number[] = [];
  for (let time = 0; time < 8; time += 1) {
    // Those that were up when it was slowed count once.
    ({ health } = afterCalls(health, [full(), full()], null, at));
    waits.push((health.slowedUntil!.getTime() - at.getTime()) / 1000);
    at = health.slowedUntil!;
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  ({ health } = afterCalls(
    health,
    times(6, () => end('busy', { sipStatus: 486 })),
    null,
    at,
  ));
  ({ health } = afterCalls(health, [full()], null, at));
  expect(health.slowedUntil).toEqual(new Date(at.getTime() + 4000));
  expect(health.slowedSince).toEqual(now);
  ({ health } = afterCalls(
    health,
    times(3, () => answered(9)),
    null,
    new Date(at.getTime() + 5000),
  ));
  expect(health).toEqual(well);
});

test.each([
  ['503', { sipStatus: 503 }, 'trunk_busy'],
  ['403 that says so', { sipStatus: 403, sipReason: 'User channel limit exceeded D1' }, 'trunk_busy'],
  ['480 with a cause that says so', { sipStatus: 480, q850Cause: 42 }, 'trunk_busy'],
  ['486 with a cause that says so', { sipStatus: 486, q850Cause: 34 }, 'trunk_busy'],
  ['call that the server had no channel for', { q850Cause: 34 }, 'trunk_busy'],
  ['call that failed without an answer', { q850Cause: 41 }, undefined],
  ['another 403', { sipStatus: 403, sipReason: 'Caller ID not allowed' }, 'trunk_paused'],
  ['500', { sipStatus: 500 }, undefined],
])('what a %s is to the contact', (_, answer, why) => {
  const only = end('trunk_error', answer);
  const next = afterCalls(well, [only], null, now);
  expect(next.setAside.get(only.roomId)).toBe(why);
  expect(next.pause?.reason).toBe(why === 'trunk_paused' ? 'forbidden' : undefined);
});

test('three INVITEs in a row without any answer pause a trunk, and whom they were for is not called again', () => {
  const nothing = () => end('unknown', { wasSilent: true });
  const before = afterCalls(well, [nothing(), nothing()], null, now);
  expect([before.pause, before.health.unansweredInvites]).toEqual([undefined, 2]);
  const answeredBetween = [end('busy', { sipStatus: 486 }), nothing(), nothing()];
  expect(afterCalls(before.health, answeredBetween, null, now).pause).toBeUndefined();
  // Of which nobody knows, since a server is gone.
  expect(afterCalls(before.health, [end('unknown'), end('cancelled')], null, now).pause).toBeUndefined();
  const last = nothing();
  const next = afterCalls(before.health, [last], null, now);
  expect(next).toMatchObject({ pause: { reason: 'silent', end: last }, health: well });
  expect(next.setAside.size).toBe(0);
});

test('a trunk is left alone for as long as it asks, five minutes at most', () => {
  const waits = [20, 300, 100_000].map((retryAfterSeconds) => {
    const asks = end('trunk_error', { sipStatus: 503, retryAfterSeconds });
    return (afterCalls(well, [asks], null, now).health.slowedUntil!.getTime() - now.getTime()) / 1000;
  });
  expect(waits).toEqual([20, 300, 300]);
});

test('a 503 whose cause tells of the callee says nothing of room, and neither does the cause of a BYE', () => {
  const ends = [
    end('invalid_number', { sipStatus: 503, q850Cause: 1 }),
    end('answered', { q850Cause: 34, packetsReceived: 9 }),
  ];
  const next = afterCalls(well, ends, null, now);
  expect([next.setAside.size, next.health]).toEqual([0, well]);
});

test('a 480 that says nothing of room is no answer, and counts', () => {
  const next = afterCalls(well, [end('no_answer', { sipStatus: 480, q850Cause: 19 })], null, now);
  expect([next.setAside.size, next.health]).toEqual([0, well]);
});

test('ten numbers in a row that it does not know pause it, and none of them is held against its contact', () => {
  const first = times(9, () => unknown(484));
  const before = afterCalls(well, first, null, now);
  expect([before.pause, before.setAside.size]).toEqual([undefined, 0]);
  const last = unknown(603);
  const next = afterCalls(before.health, [last], null, now);
  expect(next.pause).toEqual({ reason: 'number_format', end: last });
  expect([...next.setAside.keys()]).toEqual([...first, last].map(({ roomId }) => roomId));
  expect(next.health).toEqual(well);
  // One that was up then.
  const late = unknown();
  const after = afterCalls(next.health, [late], 'number_format', now);
  expect([after.pause, [...after.setAside.keys()]]).toEqual([undefined, [late.roomId]]);
});

test('any call that it carries begins the count anew; faults and calls that were taken back do not', () => {
  const ends = [...times(9, unknown), end('trunk_error', { sipStatus: 500 }), end('cancelled'), end('unknown')];
  const { health } = afterCalls(well, ends, null, now);
  expect(health.unknownCalls).toHaveLength(9);
  expect(afterCalls(health, [end('busy', { sipStatus: 486 }), ...times(9, unknown)], null, now).pause).toBeUndefined();
});

test('three answered calls in a row without a packet pause it; where nobody counted nothing is known', () => {
  const silent = times(2, () => answered(0));
  const { health } = afterCalls(well, [...silent, answered()], null, now);
  expect(health.silentCalls).toHaveLength(2);
  expect(afterCalls(health, [answered(1), answered(0)], null, now).pause).toBeUndefined();
  const next = afterCalls(health, [answered(0)], null, after(1));
  expect([next.pause?.reason, next.setAside.size]).toEqual(['no_media', 3]);
});
