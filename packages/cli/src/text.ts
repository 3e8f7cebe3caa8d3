import widthOf from 'fast-string-truncated-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** An RFC 3339 time, as the service writes it. */
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/;

/** Columns that a text takes on a terminal. */
export const width = (text: string): number => widthOf(text).width;

/** The text, cut to so many columns with `…` where it is longer. */
export function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  const { index } = widthOf(text, { limit: columns, ellipsis: '…' });
  return `${text.slice(0, index)}…`;
}

/** The text, filled with blanks up to so many columns. */
export const pad = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - width(text)));

/** Lines of at most so many columns, each as far in as the text's own; these alone where there is no limit. */
export function wrap(text: string, columns: number | undefined): string[] {
  return text.split('\n').flatMap((line) => {
    if (!columns || width(line) <= columns) return [line];
    const indent = /^ */.exec(line)![0];
    const parts = wrapAnsi(line.trimStart(), columns - indent.length, { hard: true }).split('\n');
    return parts.map((part) => indent + part);
  });
}

/** A value in words, on one line. What others wrote (names, cells of files) can't move the terminal's cursor. */
export function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.map(plain).join(', ');
  if (typeof value === 'object') return plain(JSON.stringify(value));
  const [, date, time] = TIMESTAMP.exec(String(value)) ?? [];
  return date ? `${date} ${time}Z` : visible(String(value));
}

/** The text without characters that a terminal obeys, or that turn its direction. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();

/** 1,234. */
export const count = (value: number): string => value.toLocaleString('en-US');

/** `3 calls`, `1 call`. */
export const several = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
