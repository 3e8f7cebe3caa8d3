import type { SrtpKeys } from './srtp-key.ts';

/** The codecs of G.711 by their names in `a=rtpmap` (RFC 3551, 4.5.14). */
export type AudioCodec = 'PCMU' | 'PCMA';
/** What a payload type of a stream can carry. */
export type AudioFormat = AudioCodec | 'telephone-event';

/** A stream that signalling has agreed on, from our side. It can be sent to another thread. */
export interface AudioStream {
  /** Where the peer receives: RTP, and RTCP (RFC 3605). */
  remote: { address: string; port: number; rtcpAddress: string; rtcpPort: number };
  /** What we send, under the peer's number for it. */
  codec: AudioCodec;
  payloadType: number;
  /** The payload type that the peer takes telephone-events by (RFC 4733); without it, it takes none. */
  telephoneEventType: number | undefined;
  /** What may arrive, by payload type: as we numbered it, and as the peer did. */
  receives: Map<number, AudioFormat>;
  /** How much sound a packet of ours carries, in ms: 10, 20, 30, 40 or 60. */
  packetMs: number;
  /** What we may do. While it is not `sendrecv`, the call is on hold. */
  direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  /** The keys that packets are encrypted by; without them they are plain. */
  srtp?: SrtpKeys | undefined;
}

/** Whether a description says that nothing is to be sent, by an address of zeros (RFC 2543, B.5). */
export const isUnspecified = (address: string): boolean => /^[0.:]+$/.test(address);
