import { expect, test } from 'vitest';
import { byMachine, resultOfNotSent, resultOfUnready } from './meaning-of-end.ts';

const text = 'why';

test.each([
  ['forbidden', { status: 'rejected', outcome: 'cancelled', detail: text }],
  ['cancelled', { status: 'rejected', outcome: 'cancelled', detail: text }],
  ['unwitnessed', { status: 'withheld', detail: text }],
  ['not_kept', { status: 'unknown', detail: text }],
  ['fault', { status: 'rejected', outcome: 'trunk_error', detail: text }],
] as const)('a call that was not sent (%s)', (why, result) => {
  expect(resultOfNotSent({ why, text })).toEqual(result);
});

test.each([
  ['no_voice', { status: 'rejected', outcome: 'agent_error', detail: text }],
  ['no_room', { status: 'rejected', outcome: 'trunk_error', detail: text, q850Cause: 34 }],
  ['unusable', { status: 'rejected', outcome: 'trunk_error', detail: text }],
] as const)('a call that could not be made ready (%s)', (why, result) => {
  expect(resultOfUnready({ why, text })).toEqual(result);
});

test.each([
  ['machine', 0.8, 'answered'],
  ['machine', 0.85, 'voicemail'],
  ['human', 0.95, 'answered'],
] as const)('a call that a %s has answered, which is sure by %d, ends as %s', (answeredBy, confidence, outcome) => {
  const end = { outcome: 'answered', endedBy: 'callee' } as const;
  expect(byMachine(end, { answeredBy, confidence, evidence: [] }).outcome).toBe(outcome);
});
