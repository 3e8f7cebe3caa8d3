import type { CallStatus } from '../database/schema.ts';
import type { CallOutcome } from '../telephony/gateway.ts';

/** The states that a call can move to, as the contract's `x-transitions` show them. */
export const callTransitions = {
  queued: ['dialing', 'failed', 'cancelled'],
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

/** A call that this process is to place, or has placed. */
export interface HeldCall {
  workspaceId: string;
  roomId: string;
  campaignId: string | null;
  contactId: string | null;
  /** The callee, E.164 without the plus. */
  toNumber: number;
  fromNumber: number;
  provider: string;
  attempt: number;
  startAt: Date;
  placeBefore: Date;
}

/** A call of an owner (a campaign's contact, or a workflow run), as it ended. */
export interface EndedCall {
  workspaceId: string;
  roomId: string;
  campaignId: string | null;
  contactId: string | null;
  workflowRunId: string | null;
  attempt: number;
  outcome: CallOutcome;
  endedAt: Date;
}

/** `+14155550100` for the number as the database keeps it. */
export const toE164 = (digits: number): string => `+${digits}`;
/** The digits of an E.164 number, as the database keeps it. */
export const fromE164 = (phoneNumber: string): number => Number(phoneNumber.slice(1));
