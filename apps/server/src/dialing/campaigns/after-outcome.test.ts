import { expect, test } from 'vitest';
import { afterOutcome } from './after-outcome.ts';

const fresh = { tries: 0, faults: 0, agentFaults: 0 };
const ended = new Date('2026-11-20T10:00:00Z');

test('busy, no answer and voicemail follow the retry policy to its end', () => {
  for (const outcome of ['busy', 'no_answer', 'voicemail'] as const) {
    const first = afterOutcome(fresh, outcome, [5, 60], ended);
    expect(first).toMatchObject({
      state: 'waiting',
      tries: 1,
      reason: 'retry_later',
      nextAttemptAt: new Date('2026-11-20T10:05:00Z'),
    });
    const second = afterOutcome(first, outcome, [5, 60], ended);
    expect(second).toMatchObject({ state: 'waiting', tries: 2, nextAttemptAt: new Date('2026-11-20T11:00:00Z') });
    expect(afterOutcome(second, outcome, [5, 60], ended)).toMatchObject({
      state: 'done',
      tries: 3,
      reason: 'retries_exhausted',
    });
  }
});

test('who answered, declined, has no such number or may have been reached is not called again', () => {
  expect(afterOutcome(fresh, 'answered', [5], ended)).toMatchObject({ state: 'done', reason: null });
  expect(afterOutcome(fresh, 'declined', [5], ended)).toMatchObject({ state: 'done', reason: null });
  expect(afterOutcome(fresh, 'invalid_number', [5], ended)).toMatchObject({ state: 'done', reason: 'invalid_number' });
  expect(afterOutcome(fresh, 'unknown', [5], ended)).toMatchObject({ state: 'done', reason: 'outcome_unknown' });
  expect(afterOutcome(fresh, 'cancelled', [5], ended)).toMatchObject({ state: 'done', reason: null });
});

test('who asked not to be called while a call was on its way is left out, and otherwise it counts as it ended', () => {
  const left = { state: 'skipped', reason: 'do_not_call', tries: 1 };
  expect(afterOutcome(fresh, 'cancelled', [5], ended, undefined, true)).toMatchObject(left);
  expect(afterOutcome(fresh, 'answered', [5], ended, undefined, true)).toMatchObject({ state: 'done', reason: null });
  expect(afterOutcome(fresh, 'busy', [5], ended, undefined, true)).toMatchObject({ state: 'waiting' });
});

test("a trunk fault is not the contact's try: 1, 5, 15, 15 minutes, then no caller ID", () => {
  let tally = fresh;
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    const next = afterOutcome(tally, 'trunk_error', [], ended);
    expect(next).toMatchObject({ state: 'waiting', tries: 0 });
    waits.push((next.nextAttemptAt.getTime() - ended.getTime()) / 60_000);
    tally = next;
  }
  expect(waits).toEqual([1, 5, 15, 15]);
  expect(afterOutcome(tally, 'trunk_error', [], ended)).toMatchObject({ state: 'skipped', reason: 'no_caller_id' });
});

test('an agent fault is forgiven three times', () => {
  let tally = fresh;
  for (let i = 0; i < 3; i++) {
    const next = afterOutcome(tally, 'agent_error', [], ended);
    expect(next).toMatchObject({ state: 'waiting', tries: 0 });
    tally = next;
  }
  expect(afterOutcome(tally, 'agent_error', [], ended)).toMatchObject({ state: 'done', reason: 'retries_exhausted' });
});
