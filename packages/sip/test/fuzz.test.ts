import { createSocket } from 'node:dgram';
import { expect, onTestFinished, test } from 'vitest';
import { Framing } from '../src/framing.ts';
import type { SipMessage } from '../src/message.ts';
import { parseMessage } from '../src/parse-message.ts';
import { SipSyntaxError } from '../src/syntax.ts';
import { writeMessage } from '../src/write-message.ts';
import { sdpAnswer, sdpOffer, startAgent, until } from './agents.ts';
import { startRawPeer } from './raw-peer.ts';

/** The same numbers each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const lines = (first: string, cseq: string, more: string[] = [], body = '') =>
  [
    first,
    'Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bKfuzz;rport, SIP/2.0/TCP [2001:db8::1]:5061;branch=z9hG4bKtwo',
    'From: "A \\"B\\" <C>" <sip:a@127.0.0.1;user=phone>;tag=from1',
    'To: <sip:b@127.0.0.1>;tag=to1',
    'Call-ID: fuzz@127.0.0.1',
    `CSeq: ${cseq}`,
    'Contact: <sip:a@127.0.0.1:5060;transport=udp>;q=0.5',
    'Record-Route: <sip:p1@127.0.0.1;lr>, <sip:p2@127.0.0.1;lr>',
    'Max-Forwards: 70',
    ...more,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');

const digest =
  'Digest username="a", realm="r", nonce="1-2", uri="sip:b@127.0.0.1", response="00", algorithm=MD5, qop=auth, nc=00000001, cnonce="x"';
const corpus = [
  lines(
    'INVITE sip:b@127.0.0.1 SIP/2.0',
    '1 INVITE',
    [
      'Content-Type: application/sdp',
      'Supported: 100rel, timer',
      'Session-Expires: 1800;refresher=uac',
      `Authorization: ${digest}`,
    ],
    sdpOffer,
  ),
  lines('INVITE sip:b@127.0.0.1 SIP/2.0', '1 INVITE', ['Require: 100rel', 'Min-SE: 90']).replace(';tag=to1', ''),
  lines('ACK sip:b@127.0.0.1 SIP/2.0', '1 ACK'),
  lines('BYE sip:b@127.0.0.1 SIP/2.0', '2 BYE', ['Reason: Q.850;cause=16;text="x", SIP;cause=200']),
  lines('UPDATE sip:b@127.0.0.1 SIP/2.0', '3 UPDATE', ['Session-Expires: 90']),
  lines('PRACK sip:b@127.0.0.1 SIP/2.0', '4 PRACK', ['RAck: 1 1 INVITE']),
  lines('INFO sip:b@127.0.0.1 SIP/2.0', '5 INFO', ['c: application/dtmf-relay'], 'Signal=5\r\n'),
  lines('CANCEL sip:b@127.0.0.1 SIP/2.0', '1 CANCEL'),
  lines(
    'SIP/2.0 183 Session Progress',
    '1 INVITE',
    ['Require: 100rel', 'RSeq: 7', 'Content-Type: application/sdp'],
    sdpAnswer,
  ),
  lines('SIP/2.0 401 Unauthorized', '1 INVITE', [
    'WWW-Authenticate: Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth"',
    'Proxy-Authenticate: Digest realm="q", nonce="m"',
  ]),
  lines('SIP/2.0 422 Session Interval Too Small', '1 INVITE', ['Min-SE: 1800', 'Retry-After: 5']),
  lines(
    'SIP/2.0 200 OK',
    '1 INVITE',
    ['Content-Type: application/sdp', 'Session-Expires: 90;refresher=uas'],
    sdpAnswer,
  ),
];

const pieces = [
  '\r\n',
  '\r\n\r\n',
  '\u0000',
  '"',
  '<',
  '>',
  ';',
  ',',
  ':',
  '=',
  '\\',
  '\r\n ',
  '%',
  '@',
  '[',
  ']',
  '\ufffd',
  '99999999999',
  '-1',
  ';tag=',
  'SIP/2.0 ',
  '\n',
  '\t',
  ';lr',
  'v:',
  '()',
];

/** One to four changes: bytes flipped, cut out, doubled, moved, or put in. */
function mutate(text: string, random: () => number): Buffer {
  let bytes: Buffer = Buffer.from(text);
  const at = () => Math.floor(random() * (bytes.length + 1));
  for (let changes = Math.floor(random() * 4); changes >= 0; changes -= 1) {
    const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number];
    const kind = Math.floor(random() * 6);
    if (kind === 0 && bytes.length > 0) {
      bytes = Buffer.from(bytes);
      bytes[Math.min(from, bytes.length - 1)] = Math.floor(random() * 256);
    } else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, from), bytes.subarray(Math.min(to, from + 40))]);
    else if (kind === 2)
      bytes = Buffer.concat([
        bytes.subarray(0, to),
        bytes.subarray(from, Math.min(to, from + 200)),
        bytes.subarray(to),
      ]);
    else if (kind === 3) bytes = bytes.subarray(0, to);
    else
      bytes = Buffer.concat([
        bytes.subarray(0, from),
        Buffer.from(pieces[Math.floor(random() * pieces.length)]!),
        bytes.subarray(from),
      ]);
  }
  return bytes;
}

const MESSAGES = 50_000;

const headersOf = (message: SipMessage) =>
  JSON.stringify([...message.headers].filter(([name]) => name !== 'content-length'));

test('50,000 mutated messages: each is read, and then written and read as the same, or refused', () => {
  const random = seeded(1);
  let read = 0;
  for (let n = 0; n < MESSAGES; n += 1) {
    const bytes = mutate(corpus[n % corpus.length]!, random);
    try {
      const message = parseMessage(bytes);
      const again = parseMessage(Buffer.from(writeMessage(message)));
      if (headersOf(again) !== headersOf(message) || again.body !== message.body) expect(again).toEqual(message);
      read += 1;
    } catch (error) {
      if (!(error instanceof SipSyntaxError)) throw error;
    }
  }
  expect(read).toBeGreaterThan(MESSAGES / 20);
  expect(read).toBeLessThan(MESSAGES);
});

test('a stream of mutated messages holds little memory, however it is cut', () => {
  const random = seeded(2);
  for (let n = 0; n < 2000; n += 1) {
    const framing = new Framing();
    try {
      const bytes = Buffer.concat(
        Array.from({ length: 5 }, () => mutate(corpus[Math.floor(random() * corpus.length)]!, random)),
      );
      for (let at = 0; at < bytes.length; at += 97) framing.push(bytes.subarray(at, at + 97));
    } catch (error) {
      if (!(error instanceof SipSyntaxError)) throw error;
    }
  }
});

test('50,000 mutated messages in the middle of calls: nothing is thrown, little is kept, and calls go on', async () => {
  const errors: unknown[] = [];
  const random = seeded(3);
  let received = 0;
  const agent = await startAgent({
    onError: (error) => errors.push(error),
    onInvite(call) {
      call.ring();
      call.answer(sdpAnswer);
    },
    onMessage: (direction) => {
      if (direction === 'received') received += 1;
    },
  });
  const peer = await startRawPeer();
  const to = `sip:b@127.0.0.1:${peer.port}`;
  const identifiers = { callId: 'fuzz@127.0.0.1', fromTag: 'to1' };
  agent.invite({ to, from: 'sip:a@127.0.0.1', sdp: sdpOffer, identifiers });
  const invite = await peer.request('INVITE');
  const branch = /branch=([^;]+)/.exec(invite.headers.get('via')!)![1]!;
  peer.respond(invite, 200, { tag: 'from1', sdp: sdpAnswer });
  await peer.request('ACK');

  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  for (let n = 0; n < MESSAGES; n += 1) {
    const text = corpus[n % corpus.length]!.replace('z9hG4bKfuzz', n % 3 === 0 ? branch : `z9hG4bK${n}`);
    socket.send(mutate(n % 50 === 0 ? text : text.replace('BYE ', 'OPTIONS '), random), agent.port, '127.0.0.1');
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => received > MESSAGES / 20, 'what can be read has arrived');
  expect(errors).toEqual([]);
  expect(agent.counts().transactions).toBeLessThan(20_100);

  const call = agent.invite({ to, from: 'sip:a@127.0.0.1', sdp: sdpOffer });
  let again = await peer.request('INVITE');
  while (again.headers.get('call-id') !== call.callId) again = await peer.request('INVITE');
  peer.respond(again, 486);
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: 486 });
  await until(() => agent.counts().transactions < 100, 'the transactions were over');
});
