import type { ReceptionReport } from './reception.ts';

/** RTCP, as far as carriers look at it: reports of both kinds, a name, and BYE (RFC 3550, 6). */
const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const BYE = 203;
/** Seconds from 1900, where NTP begins, to 1970. */
const NTP_EPOCH = 2_208_988_800;
const MAX_PACKETS = 32;

/** What we have sent. */
export interface SenderState {
  ssrc: number;
  timestamp: number;
  packets: number;
  bytes: number;
}

/** When the peer's last report came, for it to reckon the round trip by. */
export interface LastSenderReport {
  /** The middle 32 bits of its NTP time. */
  ntp: number;
  /** In ms, by the clock that `now` is of. */
  at: number;
}

/** What a compound packet of the peer says to us. */
export interface RtcpNews {
  /** Packets of ours that didn't reach it, by its count. */
  lost?: number;
  senderReportNtp?: number;
  /** The streams that it has ended. */
  ended: number[];
}

/**
 * A report with our name, as one datagram.
 * @param time the time of day, in ms
 * @param now in ms, by the clock of `last`
 */
export function writeReport(
  sender: SenderState,
  cname: string,
  time: number,
  now: number,
  report?: ReceptionReport,
  last?: LastSenderReport,
): Buffer {
  const sent = sender.packets > 0;
  const head = Buffer.alloc(sent ? 28 : 8);
  head.writeUInt32BE(sender.ssrc, 4);
  if (sent) {
    head.writeUInt32BE((Math.floor(time / 1000) + NTP_EPOCH) >>> 0, 8);
    head.writeUInt32BE(Math.floor(((time % 1000) / 1000) * 2 ** 32), 12);
    head.writeUInt32BE(sender.timestamp, 16);
    head.writeUInt32BE(sender.packets >>> 0, 20);
    head.writeUInt32BE(sender.bytes >>> 0, 24);
  }
  const body = report ? Buffer.concat([head, reportBlock(report, now, last)]) : head;
  writeHeader(body, sent ? SENDER_REPORT : RECEIVER_REPORT, report ? 1 : 0);
  return Buffer.concat([body, description(sender.ssrc, cname)]);
}

/** A report and BYE: the stream has ended (RFC 3550, 6.6). */
export function writeBye(ssrc: number, cname: string): Buffer {
  const report = Buffer.alloc(8);
  report.writeUInt32BE(ssrc, 4);
  writeHeader(report, RECEIVER_REPORT, 0);
  const bye = Buffer.alloc(8);
  bye.writeUInt32BE(ssrc, 4);
  writeHeader(bye, BYE, 1);
  return Buffer.concat([report, description(ssrc, cname), bye]);
}

function reportBlock(report: ReceptionReport, now: number, last: LastSenderReport | undefined): Buffer {
  const block = Buffer.alloc(24);
  block.writeUInt32BE(report.ssrc, 0);
  block[4] = report.fractionLost;
  block.writeUIntBE(Math.min(report.lost, 0x7fffff), 5, 3);
  block.writeUInt32BE(report.highestSequence, 8);
  block.writeUInt32BE(report.jitter >>> 0, 12);
  if (last) {
    block.writeUInt32BE(last.ntp, 16);
    block.writeUInt32BE(Math.round(((now - last.at) * 65_536) / 1000) >>> 0, 20);
  }
  return block;
}

function description(ssrc: number, cname: string): Buffer {
  const name = Buffer.from(cname, 'latin1').subarray(0, 255);
  const length = Math.ceil((8 + 2 + name.length + 1) / 4) * 4;
  const packet = Buffer.alloc(length);
  packet.writeUInt32BE(ssrc, 4);
  packet[8] = 1;
  packet[9] = name.length;
  name.copy(packet, 10);
  writeHeader(packet, SOURCE_DESCRIPTION, 1);
  return packet;
}

function writeHeader(packet: Buffer, type: number, count: number): void {
  packet[0] = 0x80 | count;
  packet[1] = type;
  packet.writeUInt16BE(packet.length / 4 - 1, 2);
}

/**
 * Reads a datagram; nothing where it is no RTCP. What is cut or unknown in it is left out.
 * @param own our SSRC, which reports of our stream name
 */
export function readRtcp(datagram: Buffer, own: number): RtcpNews | undefined {
  const news: RtcpNews = { ended: [] };
  let packets = 0;
  for (let at = 0; at + 8 <= datagram.length && packets < MAX_PACKETS; packets += 1) {
    const [first, type] = [datagram[at]!, datagram[at + 1]!];
    const end = at + (datagram.readUInt16BE(at + 2) + 1) * 4;
    if (first >> 6 !== 2 || end > datagram.length) break;
    if (packets === 0 && type !== SENDER_REPORT && type !== RECEIVER_REPORT) return undefined;
    readPacket(datagram.subarray(at, end), type, first & 31, own, news);
    at = end;
  }
  return packets > 0 ? news : undefined;
}

function readPacket(packet: Buffer, type: number, count: number, own: number, news: RtcpNews): void {
  if (type === BYE) {
    for (let at = 4; at + 4 <= packet.length && news.ended.length < count; at += 4)
      news.ended.push(packet.readUInt32BE(at));
  }
  if (type !== SENDER_REPORT && type !== RECEIVER_REPORT) return;
  const blocks = type === SENDER_REPORT ? 28 : 8;
  if (type === SENDER_REPORT && packet.length >= blocks) news.senderReportNtp = packet.readUInt32BE(10);
  for (let at = blocks; at + 24 <= packet.length && at < blocks + count * 24; at += 24) {
    if (packet.readUInt32BE(at) === own) news.lost = Math.max(0, packet.readIntBE(at + 5, 3));
  }
}
