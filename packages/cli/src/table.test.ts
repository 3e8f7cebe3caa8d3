import { expect, test } from 'vitest';
import { recordLines } from './record.ts';
import { fitWidths, tableLines } from './table.ts';
import { cut, plain, width, wrap } from './text.ts';

const total = (widths: number[]) => widths.reduce((sum, each) => sum + each + 2, -2);

test('columns go from the end, then texts are cut, and the first stays whole', () => {
  expect(fitWidths([36, 9, 20, 16, 5], 100)).toEqual([36, 9, 20, 16, 5]);
  expect(fitWidths([36, 9, 20, 16, 5], 90)).toEqual([36, 9, 20, 16]);
  expect(fitWidths([36, 9, 20, 16, 5], 60)).toEqual([36, 9, 11]);
  expect(fitWidths([36, 9, 20], 46)).toEqual([36, 8]);
  for (let limit = 20; limit < 130; limit += 1)
    expect(total(fitWidths([36, 9, 70, 16, 5], limit))).toBeLessThanOrEqual(limit);
});

test('a long text in the first column leaves room for the others', () => {
  expect(fitWidths([70, 70, 16, 12], 60)).toEqual([40, 8, 8]);
});

test('a table is as wide as it may be, whatever stands in it', () => {
  const rows = [
    { id: 'a'.repeat(36), name: '日本語のとても長い名前です', note: 'one\u001b[2J\ntwo', empty: undefined },
  ];
  const columns = [
    ['id', 'id'],
    ['name', 'name'],
    ['note', 'note'],
    ['empty', 'empty'],
  ] as const;
  const lines = tableLines(rows, columns, 60);
  for (const line of lines) expect(width(line)).toBeLessThanOrEqual(60);
  expect(lines[0]).toMatch(/^ID +NAME +NOTE$/);
  expect(lines[1]).toMatch(/…/);
  expect(lines.join()).not.toContain('\u001b');
  expect(tableLines(rows, columns)[1]).toContain('日本語のとても長い名前です');
});

test('a record wraps, and shows what is in it', () => {
  const record = {
    id: 'x'.repeat(50),
    note: 'words '.repeat(20).trim(),
    at: '2026-11-22T13:54:14.123Z',
    in: { a: true },
    of: [{ b: 1, c: { d: 1 } }],
  };
  const lines = recordLines(record, 60);
  for (const line of lines) expect(width(line)).toBeLessThanOrEqual(60);
  expect(lines).toContain('at    2026-11-22 13:54:14Z');
  expect(lines.slice(-5)).toEqual(['in', '  a  yes', 'of', '  B', '  1']);
});

test('lines go on as far in as they began', () => {
  expect(wrap('one two three four', 9)).toEqual(['one two', 'three', 'four']);
  expect(wrap('a\n  one two three', 9)).toEqual(['a', '  one two', '  three']);
  expect(wrap('x'.repeat(12), 5)).toEqual(['xxxxx', 'xxxxx', 'xx']);
  expect(wrap('one two three', undefined)).toEqual(['one two three']);
});

test('values are said on one line, and cut by their width', () => {
  expect(plain('a\r\nb\u202e')).toBe('a b');
  expect(cut('日本語', 5)).toBe('日本…');
  expect(cut('short', 5)).toBe('short');
});
