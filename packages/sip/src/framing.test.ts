import { expect, test } from 'vitest';
import { type Frame, Framing } from './framing.ts';

const message = (body: string, name = 'Content-Length') =>
  `OPTIONS sip:a SIP/2.0\r\nX: y\r\n${name}: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const texts = (frames: Frame[]) => frames.map((frame) => frame.toString());

test('messages that are split at any byte and merged come out whole', () => {
  const sent = [message(''), message('one ä'), message('two', 'l'), 'BYE sip:b SIP/2.0\r\nX: no length\r\n\r\n'];
  const stream = Buffer.from(sent.join(''));
  for (const step of [1, 2, 7, 33, stream.length]) {
    const framing = new Framing();
    const frames: Frame[] = [];
    for (let at = 0; at < stream.length; at += step) frames.push(...framing.push(stream.subarray(at, at + step)));
    expect(texts(frames)).toEqual(sent);
  }
});

test('an empty double line is a ping, a single one nothing, and both may stand between messages', () => {
  const framing = new Framing();
  expect(texts(framing.push(Buffer.from('\r\n')))).toEqual([]);
  expect(texts(framing.push(Buffer.from(`\r\n\r\n${message('a')}\r\n${message('b')}`)))).toEqual([
    'ping',
    message('a'),
    message('b'),
  ]);
});

test('a long message keeps what came before it, and a body of 60,000 bytes byte by byte takes no long time', () => {
  const framing = new Framing();
  const long = message('x'.repeat(60_000));
  const from = process.cpuUsage();
  const frames = [...Buffer.from(message('a') + long)].flatMap((byte) => framing.push(Buffer.of(byte)));
  expect(texts(frames)).toEqual([message('a'), long]);
  expect(process.cpuUsage(from).user).toBeLessThan(5_000_000);
});

test.each([
  ['a head without an end', 'X'.repeat(66_000)],
  ['a length that is none', 'A\r\nContent-Length: ten\r\n\r\n'],
  ['a length that is too large', 'A\r\nContent-Length: 66000\r\n\r\n'],
  ['two lengths', 'A\r\nContent-Length: 1\r\nl: 2\r\n\r\nabc'],
])('a stream that can not be followed is refused: %s', (_what, text) => {
  expect(() => new Framing().push(Buffer.from(text))).toThrow(/stream/);
});
