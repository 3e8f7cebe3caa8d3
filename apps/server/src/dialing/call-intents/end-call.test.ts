import { expect, test } from 'vitest';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { callEnder } from './end-call.ts';

const ended = { roomId: 'room_1', status: 'cancelled', endedAt: '2026-11-20T12:00:00.000Z' } as const;

/** Ends a call that is where nobody looks so many times: given back and claimed again between the looks. */
async function endAfter(misses: number, code: 'not_found' | 'invalid_state') {
  let looks = 0;
  const nothingWaits = { database: { inWorkspace: async () => undefined } } as never;
  const end = callEnder(nothingWaits, async () => {
    looks += 1;
    if (looks <= misses) throw new ServiceError(code, 'There is no such resource in this workspace.');
    return ended;
  });
  return { answer: await end('workspace', 'room', {} as never).catch((error) => error.code), looks };
}

test('a call that is given back and claimed again while it is looked for is ended', async () => {
  expect(await endAfter(2, 'not_found')).toEqual({ answer: ended, looks: 3 });
});

test('one that is nowhere is not looked for without end, and another fault is told at once', async () => {
  expect(await endAfter(9, 'not_found')).toEqual({ answer: 'not_found', looks: 3 });
  expect(await endAfter(9, 'invalid_state')).toEqual({ answer: 'invalid_state', looks: 1 });
});
