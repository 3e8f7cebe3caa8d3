import { expect, test } from 'vitest';
import { parseSdp, SdpError, writeSdp } from './sdp.ts';
import { SdpSession } from './sdp-session.ts';

const RUNS = 50_000;
const offers = [
  'v=0\r\no=- 1 1 IN IP4 198.51.100.7\r\ns=-\r\nc=IN IP4 198.51.100.7\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0 8 101\r\na=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-16\r\na=ptime:20\r\na=maxptime:150\r\na=rtcp:4001 IN IP4 198.51.100.7\r\na=sendrecv\r\n',
  'v=0\r\no=x 1 1 IN IP6 2001:db8::1\r\ns=a b\r\nt=0 0\r\na=inactive\r\nm=image 5000 udptl t38\r\na=T38FaxVersion:0\r\nm=audio 4000 RTP/SAVP 8\r\nc=IN IP6 2001:db8::1\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj|2^31\r\n',
  'v=0\no=- 20518 0 IN IP4 203.0.113.1\ns=\nm=audio 9 RTP/AVP 110 9 13\nc=IN IP4 0.0.0.0\na=rtpmap:110 PCMA/8000/1\na=ptime:30\n',
];

/** A generator of numbers below 1 from a seed (mulberry32), so that what fails once fails again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function mutated(text: string, random: () => number): string {
  const below = (limit: number) => Math.floor(random() * limit);
  const pieces = [
    '\r\n',
    '\n',
    'm=audio 1 RTP/AVP 0',
    '-1',
    '99999999999999999999',
    ' ',
    ':',
    '/',
    '\0',
    'ÿ',
    '😀',
    'a=',
  ];
  let result = text;
  for (let changes = 1 + below(4); changes > 0; changes -= 1) {
    const at = below(result.length + 1);
    const length = below(12);
    const insert = [
      () => '',
      () => String.fromCharCode(below(300)),
      () => pieces[below(pieces.length)]!,
      () => result.slice(below(result.length), below(result.length)),
      () => result.slice(at, at + length).repeat(below(40)),
    ][below(5)]!();
    result = result.slice(0, at) + insert + result.slice(at + length);
  }
  return result;
}

test(`${RUNS} mutated descriptions are read or refused, and what we write of them is read again`, () => {
  const random = seeded(20261122);
  let taken = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const text = mutated(offers[run % offers.length]!, random);
    const encryption = (['none', 'preferred', 'required'] as const)[run % 5] ?? 'none';
    const session = new SdpSession({ address: '203.0.113.5', port: 20000, codecs: ['PCMU', 'PCMA'], encryption });
    if (run % 2) {
      session.offer();
      session.readAnswer(text);
      parseSdp(session.offer());
    }
    const { answer, audio } = session.answer(text);
    try {
      expect(parseSdp(writeSdp(parseSdp(text))).media).toEqual(parseSdp(text).media);
    } catch (error) {
      if (!(error instanceof SdpError)) throw error;
    }
    if (!audio) continue;
    taken += 1;
    if (encryption === 'required') expect(audio.srtp?.receive.keyAndSalt.length).toBeGreaterThanOrEqual(28);
    const own = parseSdp(answer);
    expect(own.media.filter(({ port }) => port !== 0)).toHaveLength(1);
    expect(own.media).toHaveLength(parseSdp(text).media.length);
    expect(audio.packetMs >= 10 && audio.packetMs <= 60 && audio.payloadType < 128).toBe(true);
  }
  expect(taken).toBeGreaterThan(RUNS / 20);
});
