import { expect, test } from 'vitest';
import { fileNameOf } from './file-name.ts';

test.each([
  ['opening-hours.pdf', 'opening-hours.pdf'],
  ['C:\\Users\\Ana\\Zoë  plan.docx', 'Zoë  plan.docx'],
  ['../../etc/passwd', 'passwd'],
  ['folder/', 'folder'],
  ['..', 'document'],
  ['  ', 'document'],
  ['', 'document'],
  [undefined, 'document'],
  ['a\0b\r\n"c".txt', 'ab"c".txt'],
  ['price\u202efdp.exe', 'pricefdp.exe'],
  ['Zoe\u0308.txt', 'Zoë.txt'],
  ['x\ud83d.txt', 'x\ufffd.txt'],
  ['.env', '.env'],
])('%j is kept as %j', (sent, kept) => {
  expect(fileNameOf(sent)).toBe(kept);
});

test('a long name keeps its extension, and no half of a character', () => {
  const name = fileNameOf(`${'x'.repeat(250)}😀${'y'.repeat(50)}.markdown`);
  expect(name.length).toBeLessThanOrEqual(255);
  expect(name).toMatch(/^x+\.markdown$/);
  expect(fileNameOf('z'.repeat(300))).toBe('z'.repeat(255));
  expect(fileNameOf(`${'x'.repeat(245)}😀😀.markdown`).isWellFormed()).toBe(true);
});
