import type { Voicemail } from '../../lines/telephony/voicemail.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import type { OwnerKey } from './call.ts';
import type { CalleeHours } from './callee-hours.ts';
import type { DialObstacle, IsSimulated } from './may-dial.ts';
import type { CallToPlace } from './place-calls.ts';

/** A call that an owner wants to have placed. */
export interface CallWish {
  workspaceId: string;
  /** Whose it is. What is looked for again is so at other times for each. */
  owner: OwnerKey;
  /** UUID of the call's room, where it has one already. */
  roomId?: string;
  /** Counts every dial, from 1. */
  attempt: number;
  /** E.164. */
  to: string;
  /** What to call from: a number of the workspace in E.164, or the UUID of a pool. */
  from: { number: string } | { poolId: string };
  /** Null if no agent speaks on it. */
  agentId: string | null;
  variables: Record<string, string>;
  metadata?: Record<string, string>;
  externalId?: string | null;
  tags?: string[] | null;
  ringTimeoutSeconds: number;
  maxCallSeconds: number;
  recording: boolean;
  /** What is done if a machine answers; what its agent says without it. */
  voicemail?: Voicemail | undefined;
  /** Whether its owner asks again for one that was taken back for being late. */
  asksAgain: boolean;
  /** How many calls it follows, each of which was asked for in the one before it; none without it. */
  callBacks?: number;
  /** When the callee may be called; a call that is asked for in this one keeps to them too. */
  hours: CalleeHours;
}

export interface CallTerms {
  serverId: string;
  now: Date;
  isSimulated: IsSimulated;
  operator: OperatorLimits;
}

/** What a call lacks; the words are those of a campaign contact's `reason`. */
export type CallObstacle =
  | DialObstacle
  | 'witness_unreachable'
  | 'no_caller_id'
  | 'trunk_busy'
  | 'trunk_paused'
  | 'agent_failing'
  | 'agent_unproven'
  | 'already_on_a_call';

/**
 * - `queued`: committed with the transaction, held by this server, to be placed after it.
 * - `refused`: this person is not to be called, now or later; the outcome of an attempt that is not made. `unknown` is that of
 *   one that was made, and that a restored database had lost (`recall-calls.ts`).
 * - `blocked`: not now. `until` is when it may be different, where that is known.
 */
export type CallAnswer =
  | { kind: 'queued'; call: CallToPlace }
  | { kind: 'refused'; outcome: 'do_not_call' | 'invalid_number' }
  | { kind: 'refused'; outcome: 'unknown'; roomId: string; attempt: number }
  | { kind: 'blocked'; reason: CallObstacle; until?: Date };
