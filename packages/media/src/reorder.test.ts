import { expect, test } from 'vitest';
import { Reorder } from './reorder.ts';

function heard() {
  const out: (number | string)[] = [];
  const reorder = new Reorder<number>(
    (item) => out.push(item),
    (count) => out.push(`${count} missing`),
  );
  const push = (...sequences: number[]) => {
    for (const sequence of sequences) reorder.push(sequence & 0xffff, sequence & 0xffff, 0);
  };
  return { out, push, reorder };
}

test('what comes in order passes at once, across the wrap', () => {
  const { out, push } = heard();
  push(65_534, 65_535, 0, 1);
  expect(out).toEqual([65_534, 65_535, 0, 1]);
});

test('two that were swapped are put back; duplicates and latecomers are left out', () => {
  const { out, push } = heard();
  push(1, 3, 2, 2, 3, 1, 4);
  expect(out).toEqual([1, 2, 3, 4]);
});

test('a gap is given up when three packets wait behind it, or for its time', () => {
  const { out, push, reorder } = heard();
  push(1, 4, 5, 6);
  expect(out).toEqual([1]);
  push(7);
  expect(out).toEqual([1, '2 missing', 4, 5, 6, 7]);
  push(9);
  reorder.giveUp(60, 60);
  expect(out.at(-1)).toBe(7);
  reorder.giveUp(61, 60);
  expect(out.slice(-2)).toEqual(['1 missing', 9]);
});

test('a sender that starts anew is followed at once, and what was held is delivered', () => {
  const { out, push } = heard();
  push(1, 3, 5000, 5001, 100, 101);
  expect(out).toEqual([1, '1 missing', 3, 5000, 5001, 100, 101]);
});

test('a restart takes any number as the first', () => {
  const { out, push, reorder } = heard();
  push(10, 12);
  reorder.restart();
  push(3, 4);
  expect(out).toEqual([10, '1 missing', 12, 3, 4]);
});
