import { expect, test } from 'vitest';
import { apartAt, startsWithin, type TrunkRoom, takeStart } from './trunk-room.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const after = (ms: number) => new Date(now.getTime() + ms);
const room = (given: Partial<TrunkRoom> = {}): TrunkRoom => ({
  id: 'a',
  isActive: true,
  channels: 10,
  apartMs: 100,
  nextStartAt: new Date(0),
  ...given,
});

test('calls start apart so that no second holds more than the rate, however late one is', () => {
  expect(apartAt(1)).toBe(1050);
  expect(apartAt(0.5)).toBe(2100);
  expect(apartAt(10)).toBe(105);
  expect(apartAt(1.5)).toBe(1050);
});

test.each([
  ['from the first on', room(), 3],
  ['after its next free slot', room({ nextStartAt: after(100) }), 2],
  ['not before that', room({ nextStartAt: after(201) }), 0],
  ['up to its channels', room({ channels: 1 }), 1],
  ['while it is active', room({ isActive: false }), 0],
])('calls can start over a trunk %s', (_, given, starts) => {
  expect(startsWithin(given, now, after(200))).toBe(starts);
});

test('a slot that is taken moves the next one on', () => {
  const trunk = room({ channels: 3, nextStartAt: after(40) });
  expect([takeStart(trunk, now), takeStart(trunk, now), takeStart(trunk, after(900))]).toEqual([
    after(40),
    after(140),
    after(900),
  ]);
  expect(trunk).toMatchObject({ channels: 0, nextStartAt: after(1000) });
});
