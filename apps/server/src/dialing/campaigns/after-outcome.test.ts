import { describe, expect, test } from 'vitest';
import { afterOutcome } from './after-outcome.ts';

const fresh = { tries: 0, faults: 0, agentFaults: 0 };
const ended = new Date('2026-11-20T10:00:00Z');

test('busy, no answer and voicemail follow the retry policy to its end', () => {
  for (const outcome of ['busy', 'no_answer', 'voicemail'] as const) {
    const first = afterOutcome(fresh, { outcome, endedAt: ended }, { retryPolicy: [5, 60] });
    expect(first).toMatchObject({
      state: 'waiting',
      tries: 1,
      reason: 'retry_later',
      nextAttemptAt: new Date('2026-11-20T10:05:00Z'),
    });
    const second = afterOutcome(first, { outcome, endedAt: ended }, { retryPolicy: [5, 60] });
    expect(second).toMatchObject({ state: 'waiting', tries: 2, nextAttemptAt: new Date('2026-11-20T11:00:00Z') });
    expect(afterOutcome(second, { outcome, endedAt: ended }, { retryPolicy: [5, 60] })).toMatchObject({
      state: 'done',
      tries: 3,
      reason: 'retries_exhausted',
    });
  }
});

test('who answered, declined, has no such number or may have been reached is not called again', () => {
  expect(afterOutcome(fresh, { outcome: 'answered', endedAt: ended }, { retryPolicy: [5] })).toMatchObject({
    state: 'done',
    reason: null,
  });
  expect(afterOutcome(fresh, { outcome: 'declined', endedAt: ended }, { retryPolicy: [5] })).toMatchObject({
    state: 'done',
    reason: null,
  });
  expect(afterOutcome(fresh, { outcome: 'invalid_number', endedAt: ended }, { retryPolicy: [5] })).toMatchObject({
    state: 'done',
    reason: 'invalid_number',
  });
  expect(afterOutcome(fresh, { outcome: 'unknown', endedAt: ended }, { retryPolicy: [5] })).toMatchObject({
    state: 'done',
    reason: 'outcome_unknown',
  });
  expect(afterOutcome(fresh, { outcome: 'cancelled', endedAt: ended }, { retryPolicy: [5] })).toMatchObject({
    state: 'done',
    reason: null,
  });
});

test('who asked not to be called while a call was on its way is left out, and otherwise it counts as it ended', () => {
  const left = { state: 'skipped', reason: 'do_not_call', tries: 1 };
  expect(
    afterOutcome(fresh, { outcome: 'cancelled', endedAt: ended, forbidden: true }, { retryPolicy: [5] }),
  ).toMatchObject(left);
  expect(
    afterOutcome(fresh, { outcome: 'answered', endedAt: ended, forbidden: true }, { retryPolicy: [5] }),
  ).toMatchObject({ state: 'done', reason: null });
  expect(afterOutcome(fresh, { outcome: 'busy', endedAt: ended, forbidden: true }, { retryPolicy: [5] })).toMatchObject(
    { state: 'waiting' },
  );
});

test("a trunk fault is not the contact's try: 1, 5, 15, 15 minutes, then no caller ID", () => {
  let tally = fresh;
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    const next = afterOutcome(tally, { outcome: 'trunk_error', endedAt: ended }, { retryPolicy: [] });
    expect(next).toMatchObject({ state: 'waiting', tries: 0 });
    waits.push((next.nextAttemptAt.getTime() - ended.getTime()) / 60_000);
    tally = next;
  }
  expect(waits).toEqual([1, 5, 15, 15]);
  expect(afterOutcome(tally, { outcome: 'trunk_error', endedAt: ended }, { retryPolicy: [] })).toMatchObject({
    state: 'skipped',
    reason: 'no_caller_id',
  });
});

test('an agent fault is forgiven three times', () => {
  let tally = fresh;
  for (let i = 0; i < 3; i++) {
    const next = afterOutcome(tally, { outcome: 'agent_error', endedAt: ended }, { retryPolicy: [] });
    expect(next).toMatchObject({ state: 'waiting', tries: 0 });
    tally = next;
  }
  expect(afterOutcome(tally, { outcome: 'agent_error', endedAt: ended }, { retryPolicy: [] })).toMatchObject({
    state: 'done',
    reason: 'retries_exhausted',
  });
});

describe('who answered and found no agent', () => {
  const end = { outcome: 'agent_error', endedAt: ended, wasAnswered: true } as const;

  test('is not called again, and that was an attempt', () => {
    const next = afterOutcome(fresh, end, { retryPolicy: [5] });
    expect(next).toMatchObject({ state: 'done', reason: 'abandoned', tries: 1, agentFaults: 0 });
  });

  test('is called again after the hours that the campaign says, as one of the attempts of its policy', () => {
    const rules = { retryPolicy: [5, 6000], abandonedRetryHours: 72 };
    const next = afterOutcome(fresh, end, rules);
    const nextAttemptAt = new Date('2026-11-23T10:00:00Z');
    expect(next).toMatchObject({ state: 'waiting', reason: 'retry_later', tries: 1, agentFaults: 0, nextAttemptAt });
    const later = afterOutcome(next, end, rules);
    expect(later).toMatchObject({ state: 'waiting', tries: 2, nextAttemptAt: new Date('2026-11-24T14:00:00Z') });
    expect(afterOutcome(later, end, rules)).toMatchObject({ state: 'done', reason: 'retries_exhausted' });
  });
});

test('who finds no room at the trunk waits as if not called, twenty times; then that is a fault of the trunk, and has an end', () => {
  let tally = fresh;
  const reasons: (string | null)[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const end = { outcome: 'trunk_error', endedAt: ended, setAside: 'trunk_busy', attempt } as const;
    const next = afterOutcome(tally, end, { retryPolicy: [] });
    reasons.push(next.reason);
    tally = next;
    if (next.state !== 'waiting') break;
  }
  expect(reasons).toEqual([
    ...Array.from({ length: 20 }, () => 'trunk_busy'),
    ...Array.from({ length: 4 }, () => 'retry_later'),
    'no_caller_id',
  ]);
  const paused = { outcome: 'trunk_error', endedAt: ended, setAside: 'trunk_paused', attempt: 90 } as const;
  expect(afterOutcome(fresh, paused, { retryPolicy: [] })).toMatchObject({ state: 'waiting', reason: 'trunk_paused' });
});
