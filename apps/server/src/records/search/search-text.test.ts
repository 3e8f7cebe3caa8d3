import { expect, test } from 'vitest';
import { readSearchText } from './search-text.ts';

const read = (text: string) =>
  readSearchText(text, (written) => (/^\+\d{7,15}$/.test(written) ? Number(written) : undefined));

test.each([
  ['+14155550100', { digits: '14155550100', isWholeNumber: true }],
  // As a form sends it.
  [' 14155550100', { digits: '14155550100', isWholeNumber: true }],
  ['(0151) 234-5', { digits: '1512345', isWholeNumber: false }],
  ['555 ', { digits: undefined }],
  ['Ada 2026', { digits: undefined }],
  [` CMP_${'0a'.repeat(16)} `, { id: `cmp_${'0a'.repeat(16)}`, digits: undefined }],
  ['cmp_0a', { id: undefined }],
  ['O.Brien (x)', { inName: '(^|[\\W_])O\\.Brien[\\s\\u00a0\\u202f\\u3000]+\\(x\\)' }],
])('%s is read as what it may be', (text, expected) => {
  expect(read(text)).toMatchObject(expected);
});
