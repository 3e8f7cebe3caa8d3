import { expect, test } from 'vitest';
import { type Evidence, type Installation, restoredBecause } from './judge-restore.ts';

const numbers = new Map([
  [1, 7],
  [2, 3],
]);
const found: Installation = {
  id: 'a',
  watermark: 7,
  witnessed: true,
  system_identifier: '1',
  timeline: 1,
  held_reason: null,
  numbers,
};
const evidence: Evidence = { witness: numbers, system_identifier: '1', seen: numbers, old: undefined };

test.each<[string, Partial<Installation>, Partial<Evidence>]>([
  ['as it was left', {}, {}],
  ['the witness was not written last', {}, { witness: new Map([[1, 6]]) }],
  ['only a journal', {}, { witness: null }],
  ['a witness that was never written', { witnessed: false }, { witness: new Map() }],
  ['a cluster that does not tell its name', {}, { system_identifier: null }],
  [
    'never looked at before',
    { system_identifier: null, timeline: null, numbers: new Map() },
    { witness: null, seen: new Map() },
  ],
  ['a promoted standby that has it all', { timeline: 2 }, {}],
  [
    'a slot that was taken, and not used before it was lost',
    { numbers: new Map([[1, 7]]) },
    { witness: new Map([[2, 0]]), seen: new Map() },
  ],
  ["a former version's witness that is not ahead", {}, { old: { id: 'a', watermark: 7 }, witness: new Map() }],
])('goes on: %s', (_name, row, known) => {
  expect(restoredBecause({ ...found, ...row }, { ...evidence, ...known })).toBeUndefined();
});

test.each<[string, Partial<Installation>, Partial<Evidence>, RegExp]>([
  ['the witness is ahead', {}, { witness: new Map([[2, 4]]) }, /older than its witness/],
  ['a slot is missing', {}, { witness: new Map([[3, 1]]) }, /older than its witness/],
  ['the witness is missing where there was one', {}, { witness: new Map() }, /missing/],
  ["a former version's witness is ahead", {}, { old: { id: 'a', watermark: 8 } }, /older than its witness/],
  ["only another installation's is there", {}, { old: { id: 'b', watermark: 1 }, witness: new Map() }, /missing/],
  ['another cluster', {}, { system_identifier: '2' }, /another cluster/],
  ['older than what this process has seen', {}, { seen: new Map([[1, 8]]), witness: null }, /has seen/],
])('holds: %s', (_name, row, known, why) => {
  expect(restoredBecause({ ...found, ...row }, { ...evidence, ...known })).toMatch(why);
});
