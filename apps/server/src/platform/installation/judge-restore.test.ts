import { expect, test } from 'vitest';
import { type Evidence, type Installation, restoredBecause } from './judge-restore.ts';

const found: Installation = {
  id: 'a',
  watermark: 7,
  witnessed: true,
  system_identifier: '1',
  timeline: 1,
  held_reason: null,
};
const evidence: Evidence = { witness: { id: 'a', watermark: 7 }, system_identifier: '1', seen: 7 };

test.each<[string, Partial<Installation>, Partial<Evidence>]>([
  ['as it was left', {}, {}],
  ['the witness was not written last', {}, { witness: { id: 'a', watermark: 6 } }],
  ['no witness is configured', {}, { witness: null }],
  ['a witness that was never written', { witnessed: false }, { witness: undefined }],
  ['a cluster that does not tell its name', {}, { system_identifier: null }],
  ['never looked at before', { system_identifier: null, timeline: null, watermark: 0 }, { witness: null, seen: 0 }],
])('goes on: %s', (_name, row, known) => {
  expect(restoredBecause({ ...found, ...row }, { ...evidence, ...known })).toBeUndefined();
});

test.each<[string, Partial<Installation>, Partial<Evidence>]>([
  ['the witness is ahead', {}, { witness: { id: 'a', watermark: 8 } }],
  ['the witness is missing where there was one', {}, { witness: undefined }],
  ['the witness is of another installation', {}, { witness: { id: 'b', watermark: 1 } }],
  ['another cluster', {}, { system_identifier: '2' }],
  ['older than what this process has seen', {}, { seen: 8, witness: null }],
])('holds: %s', (_name, row, known) => {
  expect(restoredBecause({ ...found, ...row }, { ...evidence, ...known })).toMatch(/database|witness/);
});
