import type { CallStatus } from '../../foundation/database/schema.ts';
import type { CallReference } from '../../lines/telephony/call-gateway.ts';
import type { CallOutcome, TestCallMedia } from '../../lines/telephony/call-outcome.ts';
import type { SetAside } from '../../lines/trunks/after-calls.ts';

/** The states that a call can move to, as the contract's `x-transitions` show them. */
export const callTransitions = {
  queued: ['dialing', 'cancelled'],
  dialing: ['ringing', 'in_progress', 'completed', 'failed', 'cancelled'],
  ringing: ['in_progress', 'completed', 'failed', 'cancelled'],
  in_progress: ['completed', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<CallStatus, readonly CallStatus[]>;

/** The final status of a call that ended in an outcome. */
export function finalStatus(outcome: CallOutcome): 'completed' | 'failed' | 'cancelled' {
  if (outcome === 'answered' || outcome === 'voicemail') return 'completed';
  return outcome === 'cancelled' ? 'cancelled' : 'failed';
}

/** What names a call. */
export interface CallKey {
  workspaceId: string;
  roomId: string;
}

/** Whose a call is: the kind that its owner has registered, and its UUID there. */
export interface OwnerKey {
  kind: string;
  id: string;
}

/** A call with whom it belongs to. */
export interface OwnedCall extends CallKey {
  owner: OwnerKey;
  /** The campaign that it is made for, if any. */
  campaignId: string | null;
}

/** A call that this process is to place, or has placed. */
export interface HeldCall extends OwnedCall {
  /** The callee, E.164 without the plus. */
  toNumber: number;
  /** The same; null if the caller has withheld it. */
  fromNumber: number | null;
  provider: string;
  attempt: number;
  /** When it is to be placed, or was. */
  startAt: Date;
  placeBefore: Date;
}

/** A call as it ended. */
export interface EndedCall extends OwnedCall {
  outcome: CallOutcome;
  endedAt: Date;
  wasAnswered?: boolean;
  /** From the answer to the end. */
  talkMs?: number;
  /** Who answered, if the agent has told it already. */
  answeredBy?: string | undefined;
  /** Whether a message was left to its end. */
  hasLeftMessage?: boolean;
  /** Why it is not held against its contact, if so. */
  setAside?: SetAside | 'agent_failing';
  /** What a test call saw, where its server lived to tell. */
  test?: TestCallMedia;
  /** Whether it was taken back before its placement, by whoever asked for its end. */
  neverPlaced?: true;
}

/** A call that no provider has heard of, and that therefore may be placed again. */
export interface ReturnedCall extends OwnedCall {
  /** Whether the attempt was taken back with the call, so that its number is free again. */
  attemptTakenBack: boolean;
  /** Whether it was started and is gone, to be placed again under its ID. */
  isPlacedAgain?: true;
  /** When it was claimed: it counts on that day. */
  queuedAt: Date;
}

/** A call that was placed, of which a restored database may know nothing, or not how it went on. */
export interface PlacedCall extends OwnedCall {
  attempt: number;
  /** When it was placed. */
  at: Date;
}

/** What names a call that was placed, or is about to be, to its provider. */
export const referenceOf = (call: HeldCall): CallReference => ({
  workspaceId: call.workspaceId,
  roomId: call.roomId,
  attempt: call.attempt,
  to: toE164(call.toNumber),
  ...(call.fromNumber !== null && { from: toE164(call.fromNumber) }),
  placedAt: call.startAt,
});

/** `+14155550100` for the number as the database keeps it. */
export const toE164 = (digits: number): string => `+${digits}`;
/** The digits of an E.164 number, as the database keeps it. */
export const fromE164 = (phoneNumber: string): number => Number(phoneNumber.slice(1));
