import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, test, vi } from 'vitest';
import { createScreen } from './screen.ts';

/** A terminal of so many columns, and what was written on it. */
function terminal(columns: number) {
  let written = '';
  const done = () => true;
  const write = (text: string) => {
    written += text;
    return true;
  };
  const moves = { clearLine: done, cursorTo: done, moveCursor: done, clearScreenDown: done };
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 40, write, ...moves });
  return { stream: stream as unknown as NodeJS.WriteStream, shown: () => stripVTControlCharacters(written) };
}

beforeEach(() => {
  vi.stubEnv('TERM', 'xterm');
});

test('of nobody no bar is full', () => {
  const { stream, shown } = terminal(80);
  createScreen(stream).progress('Dialing').end(0, 0, '0 of 0');
  const text = shown();
  expect(text).toContain('0 of 0');
  expect(text).not.toContain('█');
});

test('in 60 columns a bar leaves room for what it says', () => {
  const { stream, shown } = terminal(60);
  createScreen(stream).progress('Validating').end(1, 1, '970 valid, 18 invalid, 12 duplicates');
  expect(shown()).toMatch(/█ {2}970 valid, 18 invalid, 12 duplicates/);
});
