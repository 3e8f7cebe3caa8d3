import { expect, test } from 'vitest';
import { mutated, seeded } from '../test/mutated.ts';
import { writeRtpHeader } from './rtp.ts';
import { SrtpReceiver, SrtpSender } from './srtp.ts';
import type { SrtpKey, SrtpSuite } from './srtp-key.ts';

const suites: SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32', 'AEAD_AES_128_GCM'];
const keyOf = (suite: SrtpSuite, seed = 1): SrtpKey => {
  const below = seeded(seed);
  return {
    suite,
    keyAndSalt: Buffer.from(Array.from({ length: suite === 'AEAD_AES_128_GCM' ? 28 : 30 }, () => below(256))),
  };
};

function packet(sequence: number, { ssrc = 7, length = 160 } = {}): Buffer {
  const made = Buffer.alloc(12 + length, sequence);
  writeRtpHeader(made, { payloadType: 0, marker: false, sequence: sequence & 0xffff, timestamp: sequence * 160, ssrc });
  return made;
}
const report = (ssrc = 7) => {
  const made = Buffer.alloc(28, 5);
  made.set([0x80, 200, 0, 6]);
  made.writeUInt32BE(ssrc, 4);
  return made;
};

/** A copy goes in, since what is opened may be opened in its place. */
const open = (receiver: SrtpReceiver, sealed: Buffer) => receiver.open(Buffer.from(sealed));

test.each(suites)('%s: what is sealed is opened, and its sound is nowhere in the packet', (suite) => {
  const [sender, receiver] = [new SrtpSender(keyOf(suite)), new SrtpReceiver(keyOf(suite))];
  for (const [at, length] of [160, 4, 480, 0, 80].entries()) {
    const clear = packet(100 + at, { length });
    const sealed = sender.seal(clear);
    if (length > 4) expect(sealed.includes(clear.subarray(12, 28))).toBe(false);
    expect(open(receiver, sealed)).toEqual(clear);
  }
  for (let count = 0; count < 3; count += 1) {
    const sealed = sender.sealReport(report());
    expect(sealed.includes(report().subarray(8, 20))).toBe(false);
    expect(receiver.openReport(Buffer.from(sealed))).toEqual(report());
    expect(receiver.openReport(Buffer.from(sealed))).toBe('replayed');
  }
});

test.each([
  ['AES_CM_128_HMAC_SHA1_80', 70_000],
  ['AES_CM_128_HMAC_SHA1_32', 2000],
  ['AEAD_AES_128_GCM', 2000],
] as const)('%s: %i packets from 65,000 on roll over, some late, some lost, none taken twice', (suite, count) => {
  const [sender, receiver, below] = [new SrtpSender(keyOf(suite)), new SrtpReceiver(keyOf(suite)), seeded(3)];
  const late: Buffer[] = [];
  let opened = 0;
  let refused = 0;
  for (let sequence = 65_000; sequence < 65_000 + count; sequence += 1) {
    const clear = packet(sequence, { length: 20 });
    const sealed = sender.seal(clear);
    if (below(50) === 0) continue;
    if (below(50) === 0 && late.length < 20) {
      late.push(sealed);
      continue;
    }
    if (!Buffer.from(clear).equals(open(receiver, sealed) as Buffer)) throw new Error(`not opened: ${sequence}`);
    opened += 1;
    if (below(50) === 0 && open(receiver, sealed) === 'replayed') refused += 1;
    if (late.length === 20)
      for (const each of late.splice(0)) if (typeof open(receiver, each) === 'object') opened += 1;
  }
  expect(opened / count).toBeGreaterThan(0.95);
  expect(refused / count).toBeGreaterThan(0.01);
});

test('a source that has rolled over while nothing of it was heard is opened', () => {
  const [sender, receiver] = [
    new SrtpSender(keyOf('AES_CM_128_HMAC_SHA1_80')),
    new SrtpReceiver(keyOf('AES_CM_128_HMAC_SHA1_80')),
  ];
  const sealed = Array.from({ length: 600 }, (_, at) => sender.seal(packet(65_000 + at)));
  expect(open(receiver, sealed[599]!)).toEqual(packet(65_599));
  expect(open(receiver, sealed[500]!)).toEqual(packet(65_500));
});

test('a packet too old for the window counts as one that came again', () => {
  const [sender, receiver] = [new SrtpSender(keyOf('AEAD_AES_128_GCM')), new SrtpReceiver(keyOf('AEAD_AES_128_GCM'))];
  const sealed = Array.from({ length: 200 }, (_, at) => sender.seal(packet(at)));
  open(receiver, sealed[199]!);
  expect(open(receiver, sealed[71]!)).toBe('replayed');
  expect(open(receiver, sealed[72]!)).toEqual(packet(72));
});

test.each(suites)('%s: a packet of another key, plain, changed or cut is refused, and changes nothing', (suite) => {
  const key = keyOf(suite);
  const [sender, receiver, below] = [new SrtpSender(key), new SrtpReceiver(key), seeded(9)];
  const wrong = new SrtpSender(keyOf(suite, 2));
  for (let run = 0; run < 800; run += 1) {
    const clear = packet(run);
    const sealed = sender.seal(clear);
    const bad = [wrong.seal(clear), clear, mutated(sealed, below), sealed.subarray(0, below(sealed.length))];
    for (const each of bad) if (!each.equals(sealed)) expect(typeof open(receiver, each)).toBe('string');
    expect(open(receiver, sealed)).toEqual(clear);
    const sealedReport = sender.sealReport(report());
    const badReports = [wrong.sealReport(report()), report(), mutated(sealedReport, below)];
    for (const each of badReports)
      if (!each.equals(sealedReport)) expect(typeof receiver.openReport(Buffer.from(each))).toBe('string');
    expect(receiver.openReport(sealedReport)).toEqual(report());
  }
});

test('after a new key, packets by the key before are opened until one by the new one was', () => {
  const [first, second] = [keyOf('AES_CM_128_HMAC_SHA1_80', 1), keyOf('AES_CM_128_HMAC_SHA1_80', 2)];
  const [before, after] = [new SrtpSender(first), new SrtpSender(second)];
  const receiver = new SrtpReceiver(second, new SrtpReceiver(first));
  expect(open(receiver, before.seal(packet(5)))).toEqual(packet(5));
  expect(open(receiver, after.seal(packet(6)))).toEqual(packet(6));
  expect(open(receiver, before.seal(packet(7)))).toBe('undeciphered');
});

test('a peer may count on under a new key, or begin anew', () => {
  const [first, second] = [keyOf('AES_CM_128_HMAC_SHA1_80', 1), keyOf('AES_CM_128_HMAC_SHA1_80', 2)];
  const rolled = () => {
    const [sender, receiver] = [new SrtpSender(first), new SrtpReceiver(first)];
    for (let sequence = 0; sequence < 140_000; sequence += 20_000) open(receiver, sender.seal(packet(sequence)));
    return new SrtpReceiver(second, receiver);
  };
  const anew = new SrtpSender(second);
  expect(open(rolled(), anew.seal(packet(10_000)))).toEqual(packet(10_000));
  const goesOn = new SrtpSender(second);
  for (let sequence = 0; sequence < 140_000; sequence += 20_000) goesOn.seal(packet(sequence));
  expect(open(rolled(), goesOn.seal(packet(140_001)))).toEqual(packet(140_001));
});
