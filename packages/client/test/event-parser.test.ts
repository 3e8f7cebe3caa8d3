import { expect, test } from 'vitest';
import { createEventParser } from '../src/event-parser.ts';

const parse = (...pieces: string[]) => pieces.flatMap(createEventParser());

test('every kind of line end, also in the middle of one', () => {
  const expected = [{ data: 'one' }, { data: 'two' }];
  expect(parse('data: one\n\ndata: two\n\n')).toEqual(expected);
  expect(parse('data: one\r\n\r\ndata: two\r\n\r\n')).toEqual(expected);
  expect(parse('data: one\r\rdata: two\r\r', 'data: half')).toEqual(expected);
  expect(parse(...'data: one\r\n\r\ndata: two\r\n\r\n')).toEqual(expected);
});

test('several data lines are one text; one space after the colon is not part of it', () => {
  expect(parse('data: {\ndata:  "a": 1\ndata:}\ndata\n\n')).toEqual([{ data: '{\n "a": 1\n}\n' }]);
});

test('comments and unknown fields are passed over, and of an event without data there is the ID', () => {
  expect(parse(': ping\n\nid: 3\nevent: x\n\nid: 4\ncolour: red\ndata: a:b: c\n\n')).toEqual([
    { id: '3' },
    { data: 'a:b: c', id: '4' },
  ]);
});

test('retry is a whole number of milliseconds, or nothing', () => {
  expect(parse('retry: 1500\n\nretry: soon\n\nretry: -1\n\n')).toEqual([{ retry: 1500 }]);
});

test('an event that is cut off is none', () => {
  expect(parse('data: whole\n\ndata: cut\n')).toEqual([{ data: 'whole' }]);
});
