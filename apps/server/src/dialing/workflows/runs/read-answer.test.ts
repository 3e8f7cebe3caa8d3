import { expect, test } from 'vitest';
import { readAnswer } from './read-answer.ts';

const json = (text: string) => {
  const headers = { 'content-type': 'application/json' };
  return readAnswer({ status: 200, headers, body: Buffer.from(text) }).body;
};

test('integers that a number would round stay as text, all others are numbers', () => {
  expect(
    json('{"id": 90071992547409931, "list": [-9007199254740993, 9007199254740991], "sum": 1.5, "far": 1e300}'),
  ).toEqual({
    id: '90071992547409931',
    list: ['-9007199254740993', 9007199254740991],
    sum: 1.5,
    far: 1e300,
  });
  expect(json('90071992547409931')).toBe('90071992547409931');
});

test('JSON that can not be read, or nests too deeply, stays as text', () => {
  expect(json('{"a": ')).toBe('{"a": ');
  const deep = `${'['.repeat(40)}${']'.repeat(40)}`;
  expect(json(deep)).toBe(deep);
});
