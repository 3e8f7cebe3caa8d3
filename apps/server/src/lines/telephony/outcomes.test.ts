import { describe, expect, test } from 'vitest';
import { callOutcomes } from './call-outcome.ts';
import { outcomeOfQ850Cause, outcomeOfSipStatus, outcomeRules } from './outcomes.ts';

describe('outcomeOfSipStatus', () => {
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
    [488, 'agent_error'],
    [606, 'agent_error'],
    [699, 'declined'],
    [302, 'unknown'],
    [0, 'unknown'],
  ])('%i is %s', (status, outcome) => {
    expect(outcomeOfSipStatus(status)).toBe(outcome);
  });

  test('487 is our cancel, or no answer when the ring time was over', () => {
    expect(outcomeOfSipStatus(487)).toBe('cancelled');
    expect(outcomeOfSipStatus(487, { ringTimedOut: true })).toBe('no_answer');
    expect(outcomeOfSipStatus(486, { ringTimedOut: true })).toBe('busy');
  });
});

test.each([
  [1, 'invalid_number'],
  [16, 'answered'],
  [17, 'busy'],
  [18, 'no_answer'],
  [21, 'declined'],
  [34, 'trunk_error'],
  [99, 'unknown'],
])('Q.850 cause %i is %s', (cause, outcome) => {
  expect(outcomeOfQ850Cause(cause)).toBe(outcome);
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
