import type { SrtpSuite } from '@trunkline/media';

/** How a call ended, in the contract's words. */
export const callOutcomes = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'declined',
  'invalid_number',
  'do_not_call',
  'trunk_error',
  'agent_error',
  'cancelled',
  'unknown',
] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** Who ended a call: `service` is us (end call, cancel), `time_limit` its longest duration. */
export type EndedBy = 'caller' | 'callee' | 'agent' | 'service' | 'time_limit' | 'error';

/** What a trunk said as it ended a call, or refused it. */
export interface SipAnswer {
  /** The final status of the INVITE. */
  sipStatus?: number;
  /** Its reason phrase, or the text of a Reason header (RFC 3326), which says more. */
  sipReason?: string;
  /** The cause of a Reason header with protocol Q.850. */
  q850Cause?: number;
  /** That it said nothing at all to the INVITE. */
  wasSilent?: boolean;
  /** How long it asked to be left alone (Retry-After). */
  retryAfterSeconds?: number;
}

/** What of the sound of a call was counted. */
export interface MediaReport {
  /** Such as `PCMU`. */
  codec?: string;
  /** What packets were encrypted with; absent if they were not. */
  encryptedWith?: SrtpSuite;
  /** RTP packets from the other side; 0 where none came. Absent where nobody counted. */
  packetsReceived?: number;
  packetsLost?: number;
  /** Packets that were not encrypted by the other side's key; absent if there were none. */
  packetsUndeciphered?: number;
}

/** What a test call saw on the wire, as far as it came. Addresses with their ports. */
export interface TestCallMedia {
  codec?: string;
  encryptedWith?: SrtpSuite;
  /** Where the call was sent by SIP. */
  trunkAddress?: string;
  /** Where the trunk was told to send sound. */
  localAddress?: string;
  /** Where the trunk told us to send sound. */
  remoteAddress?: string;
  heardFrom?: string;
  packetsSent?: number;
  packetsReceived?: number;
  packetsLost?: number;
  /** Absent if there were none. */
  packetsUndeciphered?: number;
  /** Of those that were sent, as the other side says. */
  packetsLostByPeer?: number;
}
