import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { type SessionKeys, type SrtpKey, type SrtpSuite, sessionKeys } from './srtp-key.ts';
import { Keystream } from './srtp-keystream.ts';

/** Encrypts and authenticates packets. What is no packet, or not authentic, is answered with nothing. */
export interface SrtpTransform {
  /** @param header how many bytes are not encrypted. @param index of 48 bits */
  sealRtp(packet: Buffer, header: number, index: number): Buffer;
  openRtp(packet: Buffer, header: number, index: number): Buffer | undefined;
  /** @param index of 31 bits */
  sealRtcp(report: Buffer, index: number): Buffer;
  openRtcp(packet: Buffer): { report: Buffer; index: number } | undefined;
}

/** Before them an RTCP packet is not encrypted: its first header, and the SSRC of its sender. */
const RTCP_HEADER = 8;
/** Of SRTCP's index: the packet is encrypted. */
const ENCRYPTED = 0x8000_0000;
/** A second of packets of 20 ms. */
const PACKETS_AHEAD = 50;
const GCM_TAG = 16;

export const transformOf = (key: SrtpKey): SrtpTransform =>
  transforms[key.suite](sessionKeys(key, 'rtp'), sessionKeys(key, 'rtcp'));

const transforms: Record<SrtpSuite, (rtp: SessionKeys, rtcp: SessionKeys) => SrtpTransform> = {
  AES_CM_128_HMAC_SHA1_80: (rtp, rtcp) => counterMode(rtp, rtcp, 10),
  AES_CM_128_HMAC_SHA1_32: (rtp, rtcp) => counterMode(rtp, rtcp, 4),
  AEAD_AES_128_GCM: galoisCounterMode,
};

/** RTCP's tag, whatever that of RTP is (RFC 4568 section 6.2.2). */
const RTCP_TAG = 10;

/** AES in counter mode, and HMAC-SHA1 (RFC 3711 section 4). @param rtpTag how many bytes of the HMAC an RTP packet bears */
function counterMode(rtp: SessionKeys, rtcp: SessionKeys, rtpTag: number): SrtpTransform {
  const rtpStream = new Keystream(rtp.cipherKey, rtp.salt, PACKETS_AHEAD);
  const rtcpStream = new Keystream(rtcp.cipherKey, rtcp.salt, 1);
  const rollover = Buffer.alloc(4);
  const rtpTagOf = (packet: Buffer, index: number) => {
    rollover.writeUInt32BE(Math.floor(index / 2 ** 16));
    return createHmac('sha1', rtp.authKey).update(packet).update(rollover).digest().subarray(0, rtpTag);
  };
  const rtcpTagOf = (packet: Buffer) => createHmac('sha1', rtcp.authKey).update(packet).digest().subarray(0, RTCP_TAG);
  return {
    sealRtp: (packet, header, index) => {
      const end = packet.length;
      const sealed = Buffer.allocUnsafe(end + rtpTag);
      packet.copy(sealed);
      rtpStream.apply(sealed, header, end, packet.readUInt32BE(8), index);
      rtpTagOf(sealed.subarray(0, end), index).copy(sealed, end);
      return sealed;
    },
    openRtp: (packet, header, index) => {
      const end = packet.length - rtpTag;
      if (end < header) return undefined;
      const opened = packet.subarray(0, end);
      if (!timingSafeEqual(rtpTagOf(opened, index), packet.subarray(end))) return undefined;
      rtpStream.apply(opened, header, end, packet.readUInt32BE(8), index);
      return opened;
    },
    sealRtcp: (report, index) => {
      const end = report.length;
      const sealed = Buffer.allocUnsafe(end + 4 + RTCP_TAG);
      report.copy(sealed);
      rtcpStream.apply(sealed, RTCP_HEADER, end, report.readUInt32BE(4), index);
      sealed.writeUInt32BE(ENCRYPTED + index, end);
      rtcpTagOf(sealed.subarray(0, end + 4)).copy(sealed, end + 4);
      return sealed;
    },
    openRtcp: (packet) => {
      const end = packet.length - RTCP_TAG - 4;
      if (end < RTCP_HEADER) return undefined;
      const word = packet.readUInt32BE(end);
      const isAuthentic = timingSafeEqual(rtcpTagOf(packet.subarray(0, end + 4)), packet.subarray(end + 4));
      if (!isAuthentic || word < ENCRYPTED) return undefined;
      const [report, index] = [packet.subarray(0, end), word - ENCRYPTED];
      rtcpStream.apply(report, RTCP_HEADER, end, packet.readUInt32BE(4), index);
      return { report, index };
    },
  };
}

/** AES in Galois counter mode (RFC 7714): cipher and authentication in one. */
export function galoisCounterMode(rtp: SessionKeys, rtcp: SessionKeys): SrtpTransform {
  const nonce = (salt: Buffer, ssrc: number, index: number) => {
    const made = Buffer.from(salt);
    made.writeUInt32BE((made.readUInt32BE(2) ^ ssrc) >>> 0, 2);
    made.writeUInt32BE((made.readUInt32BE(6) ^ Math.floor(index / 2 ** 16)) >>> 0, 6);
    made.writeUInt16BE(made.readUInt16BE(10) ^ (index & 0xffff), 10);
    return made;
  };
  const seal = (cipherKey: Buffer, iv: Buffer, clear: Buffer, text: Buffer) => {
    const cipher = createCipheriv('aes-128-gcm', cipherKey, iv).setAAD(clear);
    const sealed = cipher.update(text);
    cipher.final();
    return [sealed, cipher.getAuthTag()] as const;
  };
  const open = (cipherKey: Buffer, iv: Buffer, clear: Buffer, text: Buffer) => {
    const decipher = createDecipheriv('aes-128-gcm', cipherKey, iv, { authTagLength: GCM_TAG }).setAAD(clear);
    decipher.setAuthTag(text.subarray(-GCM_TAG));
    const opened = decipher.update(text.subarray(0, -GCM_TAG));
    try {
      decipher.final();
      return opened;
    } catch {
      return undefined;
    }
  };
  const rtcpClear = (packet: Buffer, word: number) => {
    const clear = Buffer.alloc(RTCP_HEADER + 4);
    packet.copy(clear, 0, 0, RTCP_HEADER);
    clear.writeUInt32BE(word, RTCP_HEADER);
    return clear;
  };
  return {
    sealRtp: (packet, header, index) => {
      const iv = nonce(rtp.salt, packet.readUInt32BE(8), index);
      const clear = packet.subarray(0, header);
      return Buffer.concat([clear, ...seal(rtp.cipherKey, iv, clear, packet.subarray(header))]);
    },
    openRtp: (packet, header, index) => {
      if (packet.length < header + GCM_TAG) return undefined;
      const iv = nonce(rtp.salt, packet.readUInt32BE(8), index);
      const clear = packet.subarray(0, header);
      const opened = open(rtp.cipherKey, iv, clear, packet.subarray(header));
      return opened && Buffer.concat([clear, opened]);
    },
    sealRtcp: (report, index) => {
      const clear = rtcpClear(report, ENCRYPTED + index);
      const iv = nonce(rtcp.salt, report.readUInt32BE(4), index);
      const sealed = seal(rtcp.cipherKey, iv, clear, report.subarray(RTCP_HEADER));
      return Buffer.concat([clear.subarray(0, RTCP_HEADER), ...sealed, clear.subarray(RTCP_HEADER)]);
    },
    openRtcp: (packet) => {
      const end = packet.length - 4;
      if (end < RTCP_HEADER + GCM_TAG) return undefined;
      const word = packet.readUInt32BE(end);
      if (word < ENCRYPTED) return undefined;
      const [clear, index] = [rtcpClear(packet, word), word - ENCRYPTED];
      const iv = nonce(rtcp.salt, packet.readUInt32BE(4), index);
      const opened = open(rtcp.cipherKey, iv, clear, packet.subarray(RTCP_HEADER, end));
      return opened && { report: Buffer.concat([clear.subarray(0, RTCP_HEADER), opened]), index };
    },
  };
}
