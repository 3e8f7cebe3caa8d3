import { expect, test } from 'vitest';
import type { AudioStream } from './audio-stream.ts';
import { Hearing } from './hearing.ts';

/** When a call of these directions, each from a time on, is told to be silent: in seconds after its answer. */
function silentAfter(...directions: [from: number, AudioStream['direction']][]): number | undefined {
  let told: number | undefined;
  let now = 0;
  const hearing = new Hearing(30_000, (event) => {
    if (event.type === 'no_media') told ??= now / 1000;
  });
  hearing.answer({ frame: () => {}, digit: () => {} }, 0);
  for (; now <= 600_000; now += 1000) {
    const [, direction] = directions.find(([from]) => from * 1000 === now) ?? [];
    if (direction) hearing.expect({ receives: new Map(), direction } as unknown as AudioStream, now);
    hearing.tick(now);
  }
  return told;
}

test('a call without sound is silent after the time for it, and one that is inactive from its answer on after twice that', () => {
  expect(silentAfter([0, 'sendrecv'])).toBe(30);
  expect(silentAfter([0, 'inactive'])).toBe(60);
});

test('a hold, and a side that only sends or only hears, may last', () => {
  expect(silentAfter([0, 'sendrecv'], [10, 'inactive'])).toBeUndefined();
  expect(silentAfter([0, 'sendonly'])).toBeUndefined();
  expect(silentAfter([0, 'recvonly'])).toBeUndefined();
  expect(silentAfter([0, 'inactive'], [50, 'sendrecv'])).toBe(80);
});
