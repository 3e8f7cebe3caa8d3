import { describe, expect, test } from 'vitest';
import { callOutcomes } from './call-outcome.ts';
import { outcomeOfAnswer, outcomeRules } from './outcomes.ts';

test.each([
  [200, 'answered'],
  [486, 'busy'],
  [600, 'busy'],
  [408, 'no_answer'],
  [480, 'no_answer'],
  [603, 'declined'],
  [404, 'invalid_number'],
  [410, 'invalid_number'],
  [484, 'invalid_number'],
  [485, 'invalid_number'],
  [604, 'invalid_number'],
  [401, 'trunk_error'],
  [403, 'trunk_error'],
  [407, 'trunk_error'],
  [500, 'trunk_error'],
  [503, 'trunk_error'],
  [502, 'no_answer'],
  [488, 'trunk_error'],
  [606, 'trunk_error'],
  [699, 'declined'],
  [487, 'cancelled'],
  [302, 'trunk_error'],
  [0, 'unknown'],
])('the status %i is %s', (sipStatus, outcome) => {
  expect(outcomeOfAnswer({ sipStatus })).toBe(outcome);
});

test.each([
  [503, 1, 'invalid_number'],
  [500, 17, 'busy'],
  [480, 17, 'busy'],
  [503, 18, 'no_answer'],
  [500, 19, 'no_answer'],
  [404, 34, 'trunk_error'],
  [486, 42, 'trunk_error'],
  [408, 44, 'trunk_error'],
  [404, 38, 'trunk_error'],
  [503, 21, 'declined'],
  [480, 21, 'declined'],
  [500, 27, 'no_answer'],
  [503, 28, 'invalid_number'],
  [503, 3, 'no_answer'],
  // The cause is made of the status.
  [403, 21, 'trunk_error'],
  [407, 21, 'trunk_error'],
  [404, 3, 'invalid_number'],
  [480, 41, 'no_answer'],
  // The cause says nothing.
  [486, 16, 'busy'],
  [404, 31, 'invalid_number'],
  [408, 102, 'no_answer'],
  [603, 127, 'declined'],
])('the status %i with the cause %i is %s', (sipStatus, q850Cause, outcome) => {
  expect(outcomeOfAnswer({ sipStatus, q850Cause })).toBe(outcome);
});

describe('outcomeRules', () => {
  const named = (rule: 'retryable' | 'countsAsTry', value: boolean) =>
    callOutcomes.filter((outcome) => outcomeRules[outcome][rule] === value);

  test('retried are voicemail, busy, no answer and our own faults', () => {
    expect(named('retryable', true)).toEqual(['voicemail', 'busy', 'no_answer', 'trunk_error', 'agent_error']);
  });

  test('our own faults and calls never placed cost the contact no try', () => {
    expect(named('countsAsTry', false)).toEqual(['do_not_call', 'trunk_error', 'agent_error']);
  });
});
