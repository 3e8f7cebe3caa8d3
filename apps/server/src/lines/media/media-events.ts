/** What the media plane is told of a call, and what it tells. All of it can be sent to another thread. */

export interface CallOptions {
  /** The address that RTP is bound to; `::` takes both families. */
  host: string;
  /** Even; RTCP has the one above. */
  rtpPort: number;
  /** Without a packet for this long, after the answer and outside of holds, `no_media` is told. */
  silenceMs: number;
}

export type MediaEvent =
  /** The first packet that the callee's side was heard by, and from where. */
  | { type: 'first_packet'; from: string }
  /** The callee pressed a key: the agent knows. */
  | { type: 'digit'; digit: string }
  /** The agent closed with 1000 or without a code, and what it had said has been played. */
  | { type: 'agent_hung_up' }
  /** The agent's connection broke, and was not made again. */
  | { type: 'agent_dropped'; text: string }
  /** No packet for `silenceMs`. Told again only after something was heard. */
  | { type: 'no_media'; heardBefore: boolean }
  /** The thread died; the call's media are gone, and its handle is closed. */
  | { type: 'media_lost' };

export interface MediaStats {
  packetsReceived: number;
  /** Of those that the peer sent. */
  packetsLost: number;
  packetsSent: number;
  /** Of those that we sent, as the peer's RTCP says; nothing where it says nothing. */
  packetsLostByPeer: number | undefined;
  codec: 'PCMU' | 'PCMA' | undefined;
  /** Where the callee was heard from last, `address:port`. */
  remoteAddress: string | undefined;
  /** Frames of 20 ms that a slow agent has missed. */
  framesAgentMissed: number;
  /** Packets of sources that may not speak into the call. */
  packetsRefused: number;
  malformedPackets: number;
  agentMessagesIgnored: number;
  /** What was beyond the five minutes that an agent may be ahead. */
  agentSoundLeftOutMs: number;
  /** Where one was made. With a `failure` it is not whole. */
  recording?: { ms: number; failure: string | undefined };
}
