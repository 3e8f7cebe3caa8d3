import { expect, test } from 'vitest';
import { attributeOf, parseSdp } from './sdp.ts';
import { cryptoAttribute, type MediaEncryption, newKey, readCrypto } from './sdp-crypto.ts';
import { SdpSession } from './sdp-session.ts';

const local = { address: '203.0.113.5', port: 20000, codecs: ['PCMU'] } as const;
const KEY = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
const OTHER = 'WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz';
const GCM_KEY = 'AAECAwQFBgcICQoLDA0OD6ChoqOkpaanqKmqqw==';
const sessionOf = (encryption: MediaEncryption) => new SdpSession({ ...local, encryption });

const described = (protocol: string, ...crypto: string[]) =>
  [
    ...['v=0', 'o=peer 1 1 IN IP4 198.51.100.7', 's=-', 'c=IN IP4 198.51.100.7', 't=0 0', `m=audio 4000 ${protocol} 0`],
    ...crypto.map((line) => `a=crypto:${line}`),
    '',
  ].join('\r\n');
const audioOf = (sdp: string) => parseSdp(sdp).media[0]!;
const keysIn = (sdp: string) => readCrypto(audioOf(sdp));
const suitesIn = (sdp: string) => keysIn(sdp).map(({ tag, suite }) => `${tag} ${suite}`);

test.each([
  [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`, 1],
  [`1 aes_cm_128_hmac_sha1_32 INLINE:${KEY}|2^20`, 1],
  [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|1048576 WSH=64`, 1],
  [`7 AEAD_AES_128_GCM inline:${GCM_KEY}`, 1],
  [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^20|1:4`, 0],
  [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^20|1:4;inline:${OTHER}|2^20|2:4`, 0],
  [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY} UNENCRYPTED_SRTCP`, 0],
  [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY} KDR=1`, 0],
  ['1 AES_CM_128_HMAC_SHA1_80 inline:d0Rm', 0],
  [`1 AEAD_AES_128_GCM inline:${KEY}`, 0],
  [`1 F8_128_HMAC_SHA1_80 inline:${KEY}`, 0],
  [`1 constructor inline:${KEY}`, 0],
  ['1', 0],
])('a=crypto:%s', (line, count) => {
  expect(keysIn(described('RTP/SAVP', line))).toHaveLength(count);
});

test('a key is read as it was written', () => {
  for (const suite of ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_128_GCM'] as const) {
    const line = { tag: '3', ...newKey(suite) };
    expect(readCrypto({ attributes: [cryptoAttribute(line)] })).toEqual([line]);
  }
});

test('an offer has keys if encryption is preferred, and is for nobody else if it is required', () => {
  const suites = ['1 AES_CM_128_HMAC_SHA1_80', '2 AES_CM_128_HMAC_SHA1_32'];
  for (const [encryption, protocol, offered] of [
    ['none', 'RTP/AVP', []],
    ['preferred', 'RTP/AVP', suites],
    ['required', 'RTP/SAVP', suites],
  ] as const) {
    const session = sessionOf(encryption);
    const offer = session.offer();
    expect([audioOf(offer).protocol, suitesIn(offer)]).toEqual([protocol, offered]);
    expect(session.offer()).toBe(offer);
  }
});

test('the answer to an offer says by which of its keys each side sends', () => {
  const session = sessionOf('preferred');
  const [, own] = keysIn(session.offer());
  const { audio } = session.readAnswer(described('RTP/AVP', `2 AES_CM_128_HMAC_SHA1_32 inline:${KEY}`));
  expect(audio!.srtp!.send.keyAndSalt).toEqual(own!.keyAndSalt);
  expect(Buffer.from(audio!.srtp!.receive.keyAndSalt).toString('base64')).toBe(KEY);
  expect([audio!.srtp!.send.suite, audio!.srtp!.receive.suite]).toEqual(Array(2).fill('AES_CM_128_HMAC_SHA1_32'));
  const unasked = described('RTP/AVP', `1 AEAD_AES_128_GCM inline:${GCM_KEY}`);
  expect(sessionOf('preferred').readAnswer(unasked).refused?.reason).toBe('encryption');
});

test.each([
  `1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^20|1:4`,
  `1 AES_CM_128_HMAC_SHA1_80 inline:${KEY} UNENCRYPTED_SRTP`,
  `2 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`,
  `3 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`,
])('an answer by another key than was offered is refused, and not taken for a plain one: %s', (line) => {
  const both = [`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`, line];
  for (const lines of [[line], both, both.toReversed()]) {
    const session = sessionOf('preferred');
    session.offer();
    expect(session.readAnswer(described('RTP/AVP', ...lines)).refused?.reason).toBe('encryption');
  }
});

test('of the same sound in clear and encrypted, the encrypted one is answered, but for none', () => {
  const line = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`;
  const offer = `${described('RTP/AVP')}m=audio 4002 RTP/SAVP 0\r\n${line}\r\n`;
  const takenOf = (encryption: MediaEncryption) =>
    parseSdp(sessionOf(encryption).answer(offer).answer!).media.map(({ port }) => port > 0);
  expect((['none', 'preferred', 'required'] as const).map(takenOf)).toEqual([
    [true, false],
    [false, true],
    [false, true],
  ]);
});

test('a plain answer is taken if encryption is preferred, and refused if it is required', () => {
  expect(sessionOf('preferred').readAnswer(described('RTP/AVP')).audio).not.toHaveProperty('srtp');
  for (const protocol of ['RTP/AVP', 'RTP/SAVP'])
    expect(sessionOf('required').readAnswer(described(protocol)).refused).toEqual({
      reason: 'encryption',
      text: 'Media must be encrypted here, and no a=crypto has a key that is spoken.',
    });
});

const crypto = `4 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`;
test.each([
  ['none', described('RTP/SAVP', crypto), undefined, undefined],
  ['none', described('RTP/AVP', crypto), 'RTP/AVP', []],
  ['preferred', described('RTP/AVP'), 'RTP/AVP', []],
  ['preferred', described('RTP/AVP', crypto), 'RTP/AVP', ['4 AES_CM_128_HMAC_SHA1_80']],
  ['preferred', described('RTP/SAVP', crypto), 'RTP/SAVP', ['4 AES_CM_128_HMAC_SHA1_80']],
  ['preferred', described('RTP/SAVP'), undefined, undefined],
  ['required', described('RTP/AVP'), undefined, undefined],
  ['required', described('RTP/AVP', crypto), 'RTP/AVP', ['4 AES_CM_128_HMAC_SHA1_80']],
  ['required', described('RTP/SAVPF', crypto), 'RTP/SAVPF', ['4 AES_CM_128_HMAC_SHA1_80']],
  ['required', described('UDP/TLS/RTP/SAVP', crypto), undefined, undefined],
] as const)('%s: an offer is answered in kind, or refused (%#)', (encryption, offer, protocol, suites) => {
  const { answer, audio, refused } = sessionOf(encryption).answer(offer);
  if (protocol === undefined) return expect(refused?.reason).toBe('encryption');
  expect([audioOf(answer!).protocol, suitesIn(answer!)]).toEqual([protocol, suites]);
  expect(audio!.srtp !== undefined).toBe(suites.length > 0);
});

test('the first key that is spoken is answered, also of a suite that we do not offer', () => {
  const offer = described(
    'RTP/SAVP',
    `1 AES_256_CM_HMAC_SHA1_80 inline:${KEY}`,
    `2 AEAD_AES_128_GCM inline:${GCM_KEY}`,
    `3 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`,
  );
  const { answer, audio } = sessionOf('required').answer(offer);
  expect(suitesIn(answer!)).toEqual(['2 AEAD_AES_128_GCM']);
  expect(audio!.srtp!.send.keyAndSalt).toEqual(keysIn(answer!)[0]!.keyAndSalt);
});

test('a later offer with the same key keeps ours, and one with a new key gets a new one', () => {
  const session = sessionOf('required');
  const answerTo = (key: string) => session.answer(described('RTP/SAVP', `1 AES_CM_128_HMAC_SHA1_80 inline:${key}`));
  const [first, again, other] = [answerTo(KEY), answerTo(KEY), answerTo(OTHER)];
  expect(again.answer).toBe(first.answer);
  expect(keysIn(other.answer!)[0]!.keyAndSalt).not.toEqual(keysIn(first.answer!)[0]!.keyAndSalt);
  expect(Buffer.from(other.audio!.srtp!.receive.keyAndSalt).toString('base64')).toBe(OTHER);
  session.withdraw();
  expect(session.audio).toEqual(again.audio);
  expect(keysIn(session.offer())).toEqual(keysIn(first.answer!));
  expect(attributeOf(audioOf(session.offer()), 'sendrecv')).toBe('');
});

test('what is said of a line that can not be read holds no key', () => {
  const { refused } = sessionOf('required').answer(described('RTP/SAVP', `1 x inline:${KEY}\u0001`));
  expect(refused).toEqual({ reason: 'malformed', text: 'No line of SDP: "a=crypto:1 x inline:(hidden)"' });
});
