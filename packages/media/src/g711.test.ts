import { expect, test } from 'vitest';
import { alawPcm, alawToUlaw, pcmToUlaw, ULAW_SILENCE, ulawPcm, ulawToAlaw } from './g711.ts';

const codes = Uint8Array.from({ length: 256 }, (_, code) => code);

test('values at the ends of both laws are those of G.711', () => {
  expect([ulawPcm[0x00], ulawPcm[0x80], ulawPcm[0xff], ulawPcm[0x7f]]).toEqual([-32124, 32124, 0, 0]);
  expect([alawPcm[0xaa], alawPcm[0x2a], alawPcm[0xd5], alawPcm[0x55]]).toEqual([32256, -32256, 8, -8]);
});

test('silence is silence in both laws', () => {
  expect(ulawToAlaw(Buffer.from([ULAW_SILENCE]))[0]).toBe(0xd5);
  expect(ulawPcm[alawToUlaw(Buffer.from([0xd5]))[0]!]).toBe(8);
});

test('A-law through µ-law and back keeps 240 of 256 codes, and moves none far', () => {
  const back = ulawToAlaw(alawToUlaw(codes));
  expect(codes.filter((code) => back[code] === code)).toHaveLength(240);
  for (const code of codes) expect(Math.abs(alawPcm[code]! - alawPcm[back[code]!]!)).toBeLessThanOrEqual(1024);
});

test('a sample becomes the code that it came from', () => {
  for (const code of codes) expect(ulawPcm[pcmToUlaw(ulawPcm[code]!)]).toBe(ulawPcm[code]);
  expect(ulawPcm[pcmToUlaw(32_767)]).toBe(32_124);
  expect(ulawPcm[pcmToUlaw(-32_768)]).toBe(-32_124);
});
