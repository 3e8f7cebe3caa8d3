/** RTP packets (RFC 3550, 5.1). */
export interface RtpPacket {
  payloadType: number;
  marker: boolean;
  sequence: number;
  timestamp: number;
  ssrc: number;
  /** Without header, extension and padding; a view of what was received. */
  payload: Buffer;
}

export const RTP_HEADER = 12;

/** How long the header is, with its extension; nothing where it is no RTP, such as RTCP on the same port (RFC 5761, 4). */
export function rtpHeaderLength(datagram: Buffer): number | undefined {
  if (datagram.length < RTP_HEADER || datagram[0]! >> 6 !== 2) return undefined;
  const payloadType = datagram[1]! & 0x7f;
  if (payloadType >= 64 && payloadType < 96) return undefined;
  const start = RTP_HEADER + (datagram[0]! & 15) * 4;
  if (!(datagram[0]! & 0x10)) return start;
  return datagram.length < start + 4 ? undefined : start + 4 + datagram.readUInt16BE(start + 2) * 4;
}

/** Reads a datagram; nothing where it is no RTP. */
export function readRtp(datagram: Buffer): RtpPacket | undefined {
  const start = rtpHeaderLength(datagram);
  if (start === undefined) return undefined;
  const end = datagram.length - (datagram[0]! & 0x20 ? datagram.at(-1)! : 0);
  if (start > end) return undefined;
  return {
    payloadType: datagram[1]! & 0x7f,
    marker: datagram[1]! > 0x7f,
    sequence: datagram.readUInt16BE(2),
    timestamp: datagram.readUInt32BE(4),
    ssrc: datagram.readUInt32BE(8),
    payload: datagram.subarray(start, end),
  };
}

/** Writes the header of a packet that has neither extension nor padding. */
export function writeRtpHeader(
  to: Buffer,
  { payloadType, marker, sequence, timestamp, ssrc }: Omit<RtpPacket, 'payload'>,
): void {
  to[0] = 0x80;
  to[1] = marker ? payloadType | 0x80 : payloadType;
  to.writeUInt16BE(sequence, 2);
  to.writeUInt32BE(timestamp, 4);
  to.writeUInt32BE(ssrc, 8);
}

/** How far a sequence number is ahead of another one, across the wrap; below 0 where it is behind. */
export const ahead = (sequence: number, of: number): number => ((sequence - of) << 16) >> 16;
