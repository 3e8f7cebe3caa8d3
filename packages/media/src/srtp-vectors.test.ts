import { expect, test } from 'vitest';
import { SrtpReceiver, SrtpSender } from './srtp.ts';
import { type SrtpKey, sessionKeys } from './srtp-key.ts';
import { Keystream } from './srtp-keystream.ts';
import { galoisCounterMode } from './srtp-transform.ts';

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex');
const cm: SrtpKey = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  keyAndSalt: hex('e1f97a0d3e018be0d64fa32c06de4139 0ec675ad498afeebb6960b3aabe6'),
};
const gcm: SrtpKey = {
  suite: 'AEAD_AES_128_GCM',
  keyAndSalt: hex('000102030405060708090a0b0c0d0e0f a0a1a2a3a4a5a6a7a8a9aaab'),
};

test('RFC 3711, appendix B.2: the keystream of AES in counter mode', () => {
  const cipherKey = hex('2b7e151628aed2a6abf7158809cf4f3c');
  const salt = hex('f0f1f2f3f4f5f6f7f8f9fafbfcfd');
  for (const ahead of [1, 50]) {
    const stream = Buffer.alloc(48);
    new Keystream(cipherKey, salt, ahead).apply(stream, 0, 48, 0, 0);
    expect(stream).toEqual(
      hex('e03ead0935c95e80e166b16dd92b4eb4 d23513162b02d0f72a43a2fe4a5f97ab 41e95b3bb0a2e8dd477901e4fca894c0'),
    );
  }
});

test('a keystream that is made for many packets is that of each', () => {
  const { cipherKey, salt } = sessionKeys(cm, 'rtp');
  const many = new Keystream(cipherKey, salt, 50);
  for (const [ssrc, index, length] of [
    [7, 65_530, 160],
    [7, 65_540, 160],
    [7, 65_541, 4],
    [7, 65_542, 480],
    [7, 65_535, 160],
    [4_294_967_295, 65_536, 33],
    [7, 2 ** 40, 160],
  ] as const) {
    const [one, other] = [Buffer.alloc(length + 12), Buffer.alloc(length + 12)];
    many.apply(one, 12, length + 12, ssrc, index);
    new Keystream(cipherKey, salt, 1).apply(other, 12, length + 12, ssrc, index);
    expect(one).toEqual(other);
  }
});

test('RFC 3711, appendix B.3: the keys of a session', () => {
  expect(sessionKeys(cm, 'rtp')).toEqual({
    cipherKey: hex('c61e7a93744f39ee10734afe3ff7a087'),
    salt: hex('30cbbc08863d8c85d49db34a9ae1'),
    authKey: hex('cebe321f6ff7716b6fd4ab49af256a156d38baa4'),
  });
});

const rtp = hex('800f1234decafbadcafebabe abababab abababab abababab abababab');
const rtcp = hex('81c8000bcafebabe abababab abababab abababab abababab');

test.each([
  [
    cm,
    '800f1234decafbadcafebabe 4e55dc4ce79978d88ca4d215949d2402 b78d6acc99ea179b8dbb',
    '81c8000bcafebabe 7128035be487b9bdbef89041f977a5a8 80000001 993e08cd54d6c1230798',
  ],
  [
    gcm,
    '800f1234decafbadcafebabe c5002ede04cfdd2eb91159e0880aa06e d2976826f796b201df3131a127e8a392',
    '81c8000bcafebabe c98b8b5df0392a55852b6c21ac8e7025 c52c6fbea2b3b446ea31123ba88ce61e 80000001',
  ],
])('libsrtp, test/srtp_driver.c: packets by a master key, both ways (%#)', (key, sealedRtp, sealedRtcp) => {
  const [sender, receiver] = [new SrtpSender(key), new SrtpReceiver(key)];
  expect(sender.seal(rtp)).toEqual(hex(sealedRtp));
  expect(sender.sealReport(rtcp)).toEqual(hex(sealedRtcp));
  expect(receiver.open(hex(sealedRtp))).toEqual(rtp);
  expect(receiver.openReport(hex(sealedRtcp))).toEqual(rtcp);
});

test('the short tag is the begin of the long one, and that of RTCP is as long', () => {
  const short = new SrtpSender({ ...cm, suite: 'AES_CM_128_HMAC_SHA1_32' });
  const long = new SrtpSender(cm);
  expect(short.seal(rtp)).toEqual(long.seal(rtp).subarray(0, -6));
  expect(short.sealReport(rtcp)).toEqual(long.sealReport(rtcp));
});

test('a tag that is cut to 4 bytes is refused where 10 were agreed on', () => {
  const short = new SrtpSender({ ...cm, suite: 'AES_CM_128_HMAC_SHA1_32' });
  expect(new SrtpReceiver(cm).open(short.seal(rtp))).toBe('undeciphered');
});

test('RFC 7714, sections 16.1.1 and 17.1: AES in Galois counter mode, by the keys of a session', () => {
  const keys = {
    cipherKey: hex('000102030405060708090a0b0c0d0e0f'),
    salt: hex('517569642070726f2071756f'),
    authKey: Buffer.alloc(0),
  };
  const transform = galoisCounterMode(keys, keys);
  const packet = Buffer.concat([
    hex('8040f17b8041f8d35501a0b2'),
    Buffer.from('Gallia est omnis divisa in partes tres'),
  ]);
  const sealed =
    hex(`8040f17b8041f8d35501a0b2 f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833
    899d7f27beb16a9152cf765ee4390cce`);
  expect(transform.sealRtp(packet, 12, 0xf17b)).toEqual(sealed);
  expect(transform.openRtp(sealed, 12, 0xf17b)).toEqual(packet);
  const report = hex(`81c8000d4d617273 4e5450314e545032525450200000042a0000e9304c756e61
    deadbeefdeadbeefdeadbeefdeadbeefdeadbeef`);
  const sealedReport = hex(`81c8000d4d617273 63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b46
    86303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade 800005d4`);
  expect(transform.sealRtcp(report, 0x5d4)).toEqual(sealedReport);
  expect(transform.openRtcp(sealedReport)).toEqual({ report, index: 0x5d4 });
});
