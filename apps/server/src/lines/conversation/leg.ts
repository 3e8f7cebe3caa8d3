import type { DigitsSent } from '../media/digits.ts';
import type { CallEvent, CallTimes } from '../telephony/call-gateway.ts';
import type { SipAnswer } from '../telephony/call-outcome.ts';
import type { Sound } from './sound.ts';

/** How a call ended, as it is told and kept. */
export type EndedCall = Extract<CallEvent, { type: 'ended' }>;

/** How a leg ended. */
export type LegEnd =
  /** It surely never left. */
  | { kind: 'not_sent'; why: NotSent; text: string }
  /** A final answer; of a caller: ours, or nobody answered it in time. */
  | ({ kind: 'rejected' } & SipAnswer)
  /** It was sent, and nobody knows what came of it. */
  | { kind: 'silence'; wasSilent?: boolean }
  /** Given up before it was answered. */
  | ({ kind: 'cancelled'; by: 'us' | 'ring_timeout' | 'far' } & SipAnswer)
  /** The end of an answered call. */
  | ({ kind: 'hung_up'; by: 'us' | 'far' } & SipAnswer)
  /** An answered call that broke. */
  | ({ kind: 'lost' } & SipAnswer);

/**
 * - `cancelled`: it was asked to end before.
 * - `forbidden`: the callee has asked not to be called meanwhile.
 * - `unwitnessed`: what was to be kept of it can't be.
 * - `not_kept`: another process may have placed it, or may have ended it.
 * - `fault`: the way to the far side failed.
 */
export type NotSent = 'cancelled' | 'forbidden' | 'unwitnessed' | 'not_kept' | 'fault';

/**
 * Why a leg can't be gone on with, before it is called or answered: no socket is free, what the two sides say can't be
 * agreed on, another process has the call, its agent can't be reached, or a fault that nobody has thought of.
 */
export type Unready =
  | { why: 'no_room' | 'unusable' | 'not_ours' | 'no_voice'; text: string }
  | { why: 'fault'; text: string; error: unknown };

/** How a leg is ended: hung up, whatever it does; or, of a caller that isn't answered, turned away for a reason. */
export type Ending = 'hang_up' | 'no_room' | 'unusable' | 'fault';

/** Where a leg leads, as a test call tells it. Addresses with their ports. */
export interface Wire {
  trunkAddress?: string;
  localAddress?: string;
  remoteAddress?: string;
}

/**
 * One far side of a conversation, such as a telephone over SIP. It tells the conversation what happens (`LegInput`) and does
 * what it is asked to; it decides nothing.
 */
export interface Leg {
  readonly far: 'callee' | 'caller';
  /** Makes all ready, the sockets of its sound among it. @returns why it can't be gone on with */
  prepare(sound: Sound): Promise<Unready | undefined>;
  /** Calls the callee, or answers the caller. */
  connect(): void;
  /** Has the sound go where the answer says. @returns whether it can */
  agree(): Promise<boolean>;
  end(as: Ending): void;
  /** Sends digits to the far side. @param sound by which they go, if they go by that */
  sendDigits(digits: string, sound: Sound): Promise<DigitsSent>;
  /** Keeps for other processes how far it is. */
  keepTimes(times: CallTimes): Promise<void>;
  /** And how it ended. */
  keepEnd(end: EndedCall): Promise<void>;
  wire(): Wire;
}

/** What a leg tells. */
export type LegInput =
  /** What is needed to end it is kept, so that it leaves now. */
  | { type: 'kept' }
  /** A callee's side says something; `rings` if the phone does. */
  | { type: 'progress'; rings: boolean }
  /** A callee has answered, or a caller has heard our answer. */
  | { type: 'answered' }
  /** This server was given up before it could answer a caller: another may have ended the call. */
  | { type: 'given_up' }
  | { type: 'digit'; digit: string }
  | { type: 'leg_ended'; end: LegEnd };
