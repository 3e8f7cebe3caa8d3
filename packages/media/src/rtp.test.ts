import { expect, test } from 'vitest';
import { ahead, readRtp, writeRtpHeader } from './rtp.ts';

const header = { payloadType: 8, marker: true, sequence: 65_535, timestamp: 4_294_967_295, ssrc: 3_000_000_000 };

function packet(more: number[] = [1, 2, 3]): Buffer {
  const datagram = Buffer.concat([Buffer.alloc(12), Buffer.from(more)]);
  writeRtpHeader(datagram, header);
  return datagram;
}

test('what is written is read as it was', () => {
  expect(readRtp(packet())).toEqual({ ...header, payload: Buffer.from([1, 2, 3]) });
});

test('contributing sources, extension and padding are no sound', () => {
  const datagram = packet([0, 0, 0, 1, 0xbe, 0xde, 0, 1, 9, 9, 9, 9, 7, 7, 0, 0, 3]);
  datagram[0] = 0x80 | 0x20 | 0x10 | 1;
  expect(readRtp(datagram)?.payload).toEqual(Buffer.from([7, 7]));
});

test.each([
  ['short', packet().subarray(0, 11)],
  ['another version', Buffer.from(packet()).fill(0x40, 0, 1)],
  ['RTCP', Buffer.from(packet()).fill(200, 1, 2)],
  ['sources beyond its end', Buffer.from(packet()).fill(0x8f, 0, 1)],
  ['an extension beyond its end', Buffer.from(packet([0, 0, 0xff, 0xff])).fill(0x90, 0, 1)],
  ['a cut extension', Buffer.from(packet()).fill(0x90, 0, 1)],
  ['padding beyond its start', Buffer.from(packet([200])).fill(0xa0, 0, 1)],
])('no RTP: %s', (_, datagram) => {
  expect(readRtp(datagram)).toBeUndefined();
});

test('sequence numbers are compared across the wrap', () => {
  expect([ahead(1, 65_535), ahead(65_535, 1), ahead(5, 5)]).toEqual([2, -2, 0]);
});
