import { expect, test } from 'vitest';
import { readRtcp, writeBye, writeReport } from './rtcp.ts';

const sender = { ssrc: 0x11223344, timestamp: 5000, packets: 10, bytes: 1600 };
const report = { ssrc: 0xaabbccdd, fractionLost: 25, lost: 3, highestSequence: 70_000, jitter: 12 };
const time = Date.UTC(2026, 10, 22, 6, 0, 0, 500);

test('a sender report is laid out as in RFC 3550, 6.4.1', () => {
  const packet = writeReport(sender, 'trunkline', time, 2000, report, { ntp: 0x01020304, at: 1000 });
  expect([packet[0], packet[1], packet.readUInt16BE(2)]).toEqual([0x81, 200, 12]);
  expect(packet.readUInt32BE(4)).toBe(sender.ssrc);
  expect(packet.readUInt32BE(8)).toBe(Math.floor(time / 1000) + 2_208_988_800);
  expect(packet.readUInt32BE(12)).toBe(2 ** 31);
  expect([packet.readUInt32BE(16), packet.readUInt32BE(20), packet.readUInt32BE(24)]).toEqual([5000, 10, 1600]);
  expect([packet.readUInt32BE(28), packet[32], packet.readUIntBE(33, 3)]).toEqual([report.ssrc, 25, 3]);
  expect([packet.readUInt32BE(36), packet.readUInt32BE(40)]).toEqual([70_000, 12]);
  expect([packet.readUInt32BE(44), packet.readUInt32BE(48)]).toEqual([0x01020304, 65_536]);
  expect([packet[52], packet[53]]).toEqual([0x81, 202]);
  expect(packet.toString('latin1', 62, 71)).toBe('trunkline');
  expect(packet.length).toBe(52 + (packet.readUInt16BE(54) + 1) * 4);
});

test('who has sent nothing reports as a receiver', () => {
  const packet = writeReport({ ...sender, packets: 0 }, 'x', time, 0, report);
  expect([packet[0], packet[1], packet.readUInt16BE(2), packet.readUInt32BE(8)]).toEqual([0x81, 201, 7, report.ssrc]);
});

test('what the peer says of our stream is read, and only that', () => {
  const packet = writeReport({ ...sender, ssrc: 5 }, 'peer', time, 0, { ...report, ssrc: 99 });
  expect(readRtcp(packet, 99)).toEqual({ lost: 3, senderReportNtp: packet.readUInt32BE(10), ended: [] });
  expect(readRtcp(packet, 98)?.lost).toBeUndefined();
});

test('BYE names the streams that end', () => {
  expect(readRtcp(writeBye(77, 'peer'), 1)?.ended).toEqual([77]);
});

test('what is cut is read as far as it is whole', () => {
  const packet = writeReport(sender, 'peer', time, 0, report);
  for (let length = 0; length < packet.length; length += 1) readRtcp(packet.subarray(0, length), report.ssrc);
  expect(readRtcp(packet.subarray(0, 51), report.ssrc)).toBeUndefined();
  expect(readRtcp(packet.subarray(0, 52), report.ssrc)?.lost).toBe(3);
  expect(readRtcp(Buffer.alloc(100), 1)).toBeUndefined();
  expect(readRtcp(Buffer.from([0x80, 203, 0, 1, 0, 0, 0, 1]), 1)).toBeUndefined();
});
