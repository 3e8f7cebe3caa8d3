import type { SrtpSuite } from './srtp-key.ts';

/** What the media plane is told of a call, and what it tells. All of it can be sent to another thread. */

export interface CallOptions {
  /** The address that RTP is bound to; `::` takes both families. */
  host: string;
  /** Even; RTCP has the one above. */
  rtpPort: number;
  /** Without a packet for this long, after the answer and outside of holds, `no_media` is told. */
  silenceMs: number;
}

/** @typeParam End how the part of a voice ends, in words of its own */
export type MediaEvent<End = unknown> =
  /** The first packet that the callee's side was heard by, and from where. */
  | { type: 'first_packet'; from: string }
  /** The callee pressed a key: the voice knows. */
  | { type: 'digit'; digit: string }
  /** The first of what the voice said, more than silence, was sent. Told once. */
  | { type: 'voice_heard' }
  /** A piece of what one side says, as µ-law; while somebody listens. */
  | { type: 'sound'; side: 'callee' | 'voice'; ulaw: Uint8Array }
  /** The voice's part is over, by itself: it hung up and what it had said has been played, or it is lost. */
  | { type: 'voice_ended'; end: End }
  /** No packet for `silenceMs`. Told again only after something was heard. */
  | { type: 'no_media'; heardBefore: boolean }
  /** The thread died; the call's media are gone, and its handle is closed. */
  | { type: 'media_lost' };

export interface MediaStats<End = unknown> {
  packetsReceived: number;
  /** Of those that the peer sent. */
  packetsLost: number;
  packetsSent: number;
  /** Of those that we sent, as the peer's RTCP says; nothing where it says nothing. */
  packetsLostByPeer: number | undefined;
  codec: 'PCMU' | 'PCMA' | undefined;
  /** Where the callee was heard from last, `address:port`. */
  remoteAddress: string | undefined;
  /** What packets were encrypted with, as was agreed on last; nothing if they were plain. */
  encryption: SrtpSuite | undefined;
  /** Packets of sources that may not speak into the call, and encrypted ones that came again. */
  packetsRefused: number;
  /** Packets that are not encrypted by the key that was agreed on. */
  packetsUndeciphered: number;
  malformedPackets: number;
  /** Milliseconds from the answer until the callee was sent the first of what the voice said; silence doesn't count. */
  firstSoundMs: number | undefined;
  /** Milliseconds of what the voice said that nobody heard: too much of it, said into a hold, or still waiting at its end. */
  soundLeftOutMs: number;
  /** Whether a word or a key of the callee was heard since the answer. */
  calleeSpoke: boolean;
  /** What the voice has counted, by names of its own. */
  voice: Record<string, number>;
  /** How the voice's part ended, in words of its own; of a call that is closed. */
  voiceEnd?: End;
  /** Where one was made. With a `failure` it is not whole. */
  recording?: { ms: number; failure: string | undefined };
}
