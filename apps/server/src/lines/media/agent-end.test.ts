import { expect, test } from 'vitest';
import { cleanText, endOfClose } from './agent-end.ts';

test.each([
  [1000, 'Goodbye', { reason: 'hung_up', closeCode: 1000, text: 'Goodbye' }],
  [1005, '', { reason: 'hung_up', closeCode: 1005 }],
  [1006, '', { reason: 'crashed', closeCode: 1006 }],
  [1011, 'Out of memory', { reason: 'crashed', closeCode: 1011, text: 'Out of memory' }],
  [4001, 'Incorrect API key', { reason: 'crashed', closeCode: 4001, text: 'Incorrect API key' }],
])('a close with %s', (code, said, end) => {
  expect(endOfClose(code, said)).toEqual(end);
});

test('an error says what broke the connection', () => {
  const error = (code: string) => Object.assign(new Error('It broke'), { code });
  expect(endOfClose(1006, '', error('ECONNRESET'))).toEqual({ reason: 'crashed', closeCode: 1006, text: 'It broke' });
  expect(endOfClose(1006, '', error('WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'))).toMatchObject({
    reason: 'too_large',
    closeCode: 1009,
  });
});

test('a text is of one line, bounded and without secrets', () => {
  const clean = (text: string) => cleanText(text, ['Bearer x1y2', '', 's3cret']);
  expect(clean('No: Bearer x1y2 is not s3cret')).toBe('No: … is not …');
  expect(clean('No answer from wss://ada:pass@example.com/a and //bob@b')).toBe(
    'No answer from wss://example.com/a and //b',
  );
  expect(clean('\u0000a\r\n\u2028b\u0085\u001b[31m ')).toBe('a b [31m');
  expect(clean('é'.repeat(300))).toHaveLength(255);
  expect(clean(`${'a'.repeat(254)}😀`).isWellFormed()).toBe(true);
});

test('of a key that is masked in part nothing is left', () => {
  const clean = (text: string) => cleanText(text, ['sk-proj-a1b2c3d4e5f6']);
  expect(clean('Incorrect API key provided: sk-proj-a*****e5f6.')).toBe('Incorrect API key provided: ….');
  expect(clean('key sk-pro...5f6, ****e5f6 or sk-proj-a1••••')).toBe('key …, … or …');
  expect(clean('Wait... then **try** again, sk-other-a***9999')).toBe('Wait... then **try** again, sk-other-a***9999');
});

test.each(['a', '*a', 'a-', '…'])('a long text of %s keeps nobody waiting', (part) => {
  const began = performance.now();
  expect(cleanText(part.repeat(100_000 / part.length), ['secret']).length).toBeLessThan(256);
  expect(performance.now() - began).toBeLessThan(1000);
});
