import { expect, test } from 'vitest';
import { faultTable, outcomeTable } from './summary.ts';

test('outcomes with their shares, the longest bar for the most frequent', () => {
  const result = { contacts: 0, valid: 0, invalid: 0, duplicates: 0, seconds: 1, callsPerSecond: 1 };
  expect(outcomeTable({ ...result, calls: 1200, outcomes: { answered: 1000, no_answer: 199, busy: 1 } })).toEqual([
    `answered           1,000   83.3 %  ${'█'.repeat(30)}`,
    `no answer            199   16.6 %  ${'█'.repeat(6)}`,
    'busy                   1    0.1 %  █',
  ]);
});

test('the first five faults, long values cut and kept in one line', () => {
  const fault = { row: '12', column: 'phone', value: 'a\nvery long text that somebody has written', reason: 'No.' };
  const table = faultTable([fault, { ...fault, value: ' ' }, fault, fault, fault, fault]);
  expect(table).toHaveLength(5);
  expect(table[0]).toBe('row     12  phone "a very long text that s…"      No.');
  expect(table[1]).toBe('row     12  phone is empty                        No.');
});
