import { expect, test } from 'vitest';
import { parseSdp } from './sdp.ts';
import { SdpSession } from './sdp-session.ts';

const local = { address: '203.0.113.5', port: 20000, codecs: ['PCMU', 'PCMA'], sessionId: '77' } as const;

/** A peer's description; `lines` follow its m= line. */
const described = (audio: string, lines: string[] = [], { at = 'IN IP4 198.51.100.7', more = [] as string[] } = {}) =>
  ['v=0', 'o=peer 1 1 IN IP4 198.51.100.7', 's=-', `c=${at}`, 't=0 0', `m=${audio}`, ...lines, ...more, ''].join(
    '\r\n',
  );

const answered = (text: string) => {
  const session = new SdpSession(local);
  const result = session.answer(text);
  if (result.refused) throw new Error(result.refused.text);
  return { ...result, session };
};
const version = (text: string) => Number(parseSdp(text).origin.version);

test('an offer names both codecs, telephone-event and the address', () => {
  expect(new SdpSession(local).offer()).toBe(
    [
      'v=0',
      'o=- 77 1 IN IP4 203.0.113.5',
      's=-',
      'c=IN IP4 203.0.113.5',
      't=0 0',
      'm=audio 20000 RTP/AVP 0 8 101',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=ptime:20',
      'a=sendrecv',
      '',
    ].join('\r\n'),
  );
  expect(new SdpSession({ ...local, address: '2001:db8::5', codecs: ['PCMA'] }).offer()).toMatch(
    /c=IN IP6 2001:db8::5\r\n[\s\S]*m=audio 20000 RTP\/AVP 8 101\r\n/,
  );
});

test('an answer says what we send and where; its own number for telephone-event is the one to send by', () => {
  const session = new SdpSession(local);
  session.offer();
  const { audio } = session.readAnswer(
    described('audio 4000 RTP/AVP 8 96', ['a=rtpmap:96 telephone-event/8000', 'a=rtcp:4100']),
  );
  expect(audio).toEqual({
    remote: { address: '198.51.100.7', port: 4000, rtcpAddress: '198.51.100.7', rtcpPort: 4100 },
    codec: 'PCMA',
    payloadType: 8,
    telephoneEventType: 96,
    receives: new Map([
      [8, 'PCMA'],
      [96, 'telephone-event'],
      [0, 'PCMU'],
      [101, 'telephone-event'],
    ]),
    packetMs: 20,
    direction: 'sendrecv',
  });
});

test('an offer is answered with its first codec that we speak, under its numbers', () => {
  const { audio, answer } = answered(
    described('audio 4000 RTP/AVP 9 110 0 98', [
      'a=rtpmap:9 G722/8000',
      'a=rtpmap:110 pcma/8000',
      'a=rtpmap:98 telephone-event/8000',
    ]),
  );
  expect(audio).toMatchObject({ codec: 'PCMA', payloadType: 110, telephoneEventType: 98 });
  expect(audio.receives.get(0)).toBe('PCMU');
  expect(audio.receives.get(8)).toBe('PCMA');
  expect(answer).toContain('m=audio 20000 RTP/AVP 110 98\r\na=rtpmap:110 PCMA/8000\r\n');
});

test('a peer without telephone-event is sent none', () => {
  const { audio, answer } = answered(described('audio 4000 RTP/AVP 0'));
  expect(audio.telephoneEventType).toBeUndefined();
  expect(answer).not.toContain('telephone-event');
});

test('a trunk with one codec takes no other', () => {
  const session = new SdpSession({ ...local, codecs: ['PCMA'] });
  expect(session.answer(described('audio 4000 RTP/AVP 0 8')).audio?.codec).toBe('PCMA');
  expect(session.answer(described('audio 4000 RTP/AVP 0')).refused).toEqual({
    reason: 'codec',
    text: 'None of the codecs offered is spoken here; it takes PCMA.',
  });
});

test.each([
  [['a=ptime:30'], 30],
  [['a=ptime:50'], 40],
  [['a=ptime:200'], 60],
  [['a=ptime:1'], 10],
  [['a=maxptime:10'], 10],
  [['a=ptime:40', 'a=maxptime:30'], 30],
  [['a=ptime:nonsense'], 20],
  [['a=ptime:0'], 20],
])('packets are as long as the peer wants and can take: %j', (lines, packetMs) => {
  const { audio, answer } = answered(described('audio 4000 RTP/AVP 0', lines));
  expect(audio.packetMs).toBe(packetMs);
  expect(answer).toContain(`a=ptime:${packetMs}\r\n`);
});

test.each([
  [['a=sendonly'], 'recvonly'],
  [['a=recvonly'], 'sendonly'],
  [['a=inactive'], 'inactive'],
  [['a=sendrecv'], 'sendrecv'],
  [[], 'sendrecv'],
])('a direction is answered by its mirror: %j', (lines, direction) => {
  const { audio, answer } = answered(described('audio 4000 RTP/AVP 0', lines));
  expect(audio.direction).toBe(direction);
  expect(answer).toContain(`a=${direction}\r\n`);
});

test('the direction of the session holds for a line that has none', () => {
  const offer = described('audio 4000 RTP/AVP 0').replace('t=0 0', 't=0 0\r\na=inactive');
  expect(answered(offer).audio.direction).toBe('inactive');
});

test('an address of zeros is a hold of the old kind', () => {
  expect(answered(described('audio 4000 RTP/AVP 0', [], { at: 'IN IP4 0.0.0.0' })).audio.direction).toBe('recvonly');
  expect(answered(described('audio 4000 RTP/AVP 0', [], { at: 'IN IP6 ::' })).audio.direction).toBe('recvonly');
  expect(answered(described('audio 4000 RTP/AVP 0', ['a=recvonly'], { at: 'IN IP4 0.0.0.0' })).audio.direction).toBe(
    'inactive',
  );
});

test('the address of the line wins over that of the session, IPv6 too', () => {
  const { audio } = answered(
    described('audio 4000 RTP/AVP 0', ['c=IN IP6 2001:db8::9', 'a=rtcp:5 IN IP6 2001:db8::a']),
  );
  expect(audio.remote).toEqual({ address: '2001:db8::9', port: 4000, rtcpAddress: '2001:db8::a', rtcpPort: 5 });
});

test.each([
  ['IN IP4 media.example.com', 'which is no IPv4 address'],
  ['IN IP6 198.51.100.7', 'which is no IPv6 address'],
  ['IN IP4 224.2.1.1/127', 'which is no address of one host'],
  ['IN IP4 255.255.255.255', 'which is no address of one host'],
  ['IN IP6 ff02::1', 'which is no address of one host'],
])('what is no address of one host is refused: %s', (at, text) => {
  const { refused } = new SdpSession(local).answer(described('audio 4000 RTP/AVP 0', [], { at }));
  expect(refused).toMatchObject({ reason: 'address', text: expect.stringContaining(text) });
});

test('further lines are refused with port 0, in their order, and stay in later offers', () => {
  const offer = described('video 5000 RTP/AVP 96', ['a=rtpmap:96 H264/90000'], {
    more: ['m=audio 4000 RTP/AVP 0', 'm=audio 4002 RTP/AVP 8', 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel'],
  });
  const { answer, session } = answered(offer);
  const lines = (text: string) => parseSdp(text).media.map(({ kind, port }) => `${kind} ${port}`);
  const expected = ['video 0', 'audio 20000', 'audio 0', 'application 0'];
  expect(lines(answer)).toEqual(expected);
  expect(lines(session.offer())).toEqual(expected);
});

test('fax is refused by name, and the stream stays as it was', () => {
  const { session, audio } = answered(described('audio 4000 RTP/AVP 0'));
  for (const more of [[], ['m=audio 0 RTP/AVP 0']])
    expect(session.answer(described('image 5000 udptl t38', ['a=T38FaxVersion:0'], { more })).refused).toMatchObject({
      reason: 'fax',
    });
  expect(session.audio).toEqual(audio);
  const beside = session.answer(described('audio 4000 RTP/AVP 0', [], { more: ['m=image 5000 udptl t38'] }));
  expect(beside.refused).toBeUndefined();
});

test('without encryption it is refused by name; a plain line beside it, or encryption that is only offered, is taken', () => {
  const crypto = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
  for (const protocol of ['RTP/SAVP', 'RTP/SAVPF', 'UDP/TLS/RTP/SAVPF'])
    expect(new SdpSession(local).answer(described(`audio 4000 ${protocol} 0`, [crypto])).refused).toEqual({
      reason: 'encryption',
      text: `Encrypted media (${protocol}) is not taken here; use RTP/AVP, without SRTP.`,
    });
  const both = answered(described('audio 4000 RTP/SAVP 0', [crypto], { more: ['m=audio 4002 RTP/AVP 0'] }));
  expect(both.answer).toMatch(/m=audio 0 RTP\/SAVP 0\r\nm=audio 20000 RTP\/AVP 0\r\n/);
  expect(answered(described('audio 4000 RTP/AVP 0', [crypto])).answer).not.toContain('crypto');
});

test('no audio, and audio over what is no RTP, are refused', () => {
  const refusal = (text: string) => new SdpSession(local).answer(text).refused?.reason;
  expect(refusal(described('video 5000 RTP/AVP 96'))).toBe('no_audio');
  expect(refusal(described('audio 0 RTP/AVP 0'))).toBe('no_audio');
  expect(refusal(described('audio 4000 TCP/MRCPv2 1'))).toBe('no_audio');
  expect(refusal(described('audio 4000 RTP/AVP 9 18'))).toBe('codec');
  expect(refusal(described('audio 4000 RTP/AVP 101', ['a=rtpmap:101 telephone-event/8000']))).toBe('codec');
  expect(refusal('nonsense')).toBe('malformed');
  expect(refusal('v=0\r\no=- 1 1 IN IP4 198.51.100.7\r\nm=audio 4000 RTP/AVP 0\r\n')).toBe('address');
});

test('a codec of 48 kHz or of two channels is not ours, whatever its name', () => {
  const { audio } = answered(
    described('audio 4000 RTP/AVP 97 98 8 99', [
      'a=rtpmap:97 PCMU/16000',
      'a=rtpmap:98 PCMU/8000/2',
      'a=rtpmap:99 telephone-event/48000',
    ]),
  );
  expect(audio).toMatchObject({ payloadType: 8, codec: 'PCMA', telephoneEventType: undefined });
});

test('the version of o= rises with what is said, and only then', () => {
  const session = new SdpSession(local);
  const first = session.offer();
  expect([version(first), version(session.offer())]).toEqual([1, 1]);
  session.readAnswer(described('audio 4000 RTP/AVP 0 101', ['a=rtpmap:101 telephone-event/8000']));
  expect(session.offer()).toBe(first);
  const hold = session.answer(described('audio 4000 RTP/AVP 0', ['a=sendonly']));
  const again = session.answer(described('audio 4000 RTP/AVP 0', ['a=sendonly']));
  const back = session.answer(described('audio 4000 RTP/AVP 0'));
  expect([hold, again, back].map(({ answer }) => version(answer!))).toEqual([2, 2, 3]);
});

test('an answer that is withdrawn leaves no trace: stream, lines and version are as before', () => {
  const { session, audio } = answered(described('audio 4000 RTP/AVP 0'));
  const before = session.offer();
  const more = ['m=video 5000 RTP/AVP 96'];
  expect(session.answer(described('audio 4004 RTP/AVP 8', ['a=sendonly'], { more })).refused).toBeUndefined();
  session.withdraw();
  expect([session.audio, session.offer()]).toEqual([audio, before]);
});

test('a re-offer keeps the number that the peer gave to telephone-event', () => {
  const { session } = answered(described('audio 4000 RTP/AVP 0 96', ['a=rtpmap:96 telephone-event/8000']));
  expect(session.offer()).toContain('m=audio 20000 RTP/AVP 0 8 96\r\n');
});
