import { expect, test } from 'vitest';
import { Encryption } from './encryption.ts';
import { writeRtpHeader } from './rtp.ts';
import type { SrtpKey } from './srtp-key.ts';

const keyOf = (fill: number): SrtpKey => ({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: Buffer.alloc(30, fill) });

function packet(sequence: number): Buffer {
  const made = Buffer.alloc(172, sequence);
  writeRtpHeader(made, { payloadType: 0, marker: false, sequence, timestamp: 0, ssrc: 1 });
  return made;
}

/** What a peer hears of a packet. */
const passed = (from: Encryption, to: Encryption, sequence: number) =>
  to.open(from.seal(packet(sequence)))?.equals(packet(sequence));

test('what was agreed on without keys is sent and taken as it is', () => {
  const [us, them] = [new Encryption(), new Encryption()];
  expect(us.agree(undefined)).toBe(false);
  expect([us.seal(packet(1)), passed(us, them, 1), us.suite]).toEqual([packet(1), true, undefined]);
});

test('a description with the same keys changes nothing, and packets that came are not taken again', () => {
  const [us, them] = [new Encryption(), new Encryption()];
  expect(us.agree({ send: keyOf(1), receive: keyOf(2) })).toBe(true);
  them.agree({ send: keyOf(2), receive: keyOf(1) });
  const sealed = them.seal(packet(9));
  expect(us.open(Buffer.from(sealed))).toEqual(packet(9));
  expect(us.agree({ send: { ...keyOf(1) }, receive: { ...keyOf(2) } })).toBe(false);
  expect([us.open(Buffer.from(sealed)), us.counts.replayed]).toEqual([undefined, 1]);
  expect([us.suite, passed(them, us, 10), passed(us, them, 10)]).toEqual(['AES_CM_128_HMAC_SHA1_80', true, true]);
});

test('new keys are taken within a call; what was sent before by the old one is still heard', () => {
  const [us, them] = [new Encryption(), new Encryption()];
  us.agree({ send: keyOf(1), receive: keyOf(2) });
  them.agree({ send: keyOf(2), receive: keyOf(1) });
  const underway = them.seal(packet(4));
  expect(us.agree({ send: keyOf(3), receive: keyOf(4) })).toBe(true);
  expect(us.open(underway)).toEqual(packet(4));
  them.agree({ send: keyOf(4), receive: keyOf(3) });
  expect([passed(them, us, 5), passed(us, them, 5)]).toEqual([true, true]);
});

test('after a new key that was withdrawn, packets that came by the old one are not taken again', () => {
  const [us, them] = [new Encryption(), new Encryption()];
  us.agree({ send: keyOf(1), receive: keyOf(2) });
  them.agree({ send: keyOf(2), receive: keyOf(1) });
  const sealed = [65_000, 131, 30_000, 60_000, 200].map((sequence) => them.seal(packet(sequence)));
  for (const each of sealed) us.open(Buffer.from(each));
  us.agree({ send: keyOf(3), receive: keyOf(4) });
  us.agree({ send: keyOf(1), receive: keyOf(2) });
  expect([us.open(Buffer.from(sealed[4]!)), us.counts]).toEqual([undefined, { replayed: 1, undeciphered: 0 }]);
  expect(passed(them, us, 201)).toBe(true);
  us.agree(undefined);
  us.agree({ send: keyOf(1), receive: keyOf(2) });
  expect([us.open(Buffer.from(sealed[4]!)), passed(them, us, 202)]).toEqual([undefined, true]);
});

test('reports are encrypted too', () => {
  const [us, them] = [new Encryption(), new Encryption()];
  us.agree({ send: keyOf(1), receive: keyOf(2) });
  them.agree({ send: keyOf(2), receive: keyOf(1) });
  const report = Buffer.alloc(28, 7);
  report.set([0x80, 200, 0, 6]);
  const sealed = us.sealReport(report);
  expect(sealed.includes(report.subarray(8))).toBe(false);
  expect(them.openReport(sealed)).toEqual(report);
  expect(them.openReport(report)).toBeUndefined();
});
