import { expect, test } from 'vitest';
import { faultTable, outcomeTable } from './summary.ts';

test('outcomes with their shares, the longest bar for the most frequent', () => {
  const result = { contacts: 0, valid: 0, invalid: 0, duplicates: 0, seconds: 1, callsPerSecond: 1 };
  expect(outcomeTable({ ...result, calls: 1200, outcomes: { answered: 1000, no_answer: 199, busy: 1 } }, 76)).toEqual([
    `answered           1,000   83.3 %  ${'█'.repeat(30)}`,
    `no answer            199   16.6 %  ${'█'.repeat(6)}`,
    'busy                   1    0.1 %  █',
  ]);
});

test('the first five faults, long values cut and kept in one line, long reasons wrapped', () => {
  const reason = 'A spreadsheet has shortened this number. Format the column as text, and export it again.';
  const fault = { row: '12', column: 'phone', value: 'some\nvery long text that stands here', reason: 'No.' };
  expect(faultTable([{ ...fault, value: ' ', reason }, fault, fault, fault, fault, fault], 76)).toEqual([
    '   row  value               why',
    '    12  (empty)             A spreadsheet has shortened this number. Format',
    '                            the column as text, and export it again.',
    ...Array(4).fill('    12  some very long te…  No.'),
  ]);
});

test('in a terminal of 60 columns no line is longer', () => {
  const reason = 'A spreadsheet has shortened this number. Format the column as text, and export it again.';
  const faults = Array(5).fill({ row: '1000000', column: 'phone', value: 'a value that is much too long', reason });
  const outcomes = { invalid_number: 1_000_000, answered: 1 };
  const result = { contacts: 0, valid: 0, invalid: 0, duplicates: 0, seconds: 1, callsPerSecond: 1 };
  const lines = [...faultTable(faults, 56), ...outcomeTable({ ...result, calls: 1_000_001, outcomes }, 56)];
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(56);
});
