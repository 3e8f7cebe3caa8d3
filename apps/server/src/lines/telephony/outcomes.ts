import type { CallOutcome, SipAnswer } from './call-outcome.ts';

/** How an outcome bears on the contact's next attempt (campaigns.md, "How often again"). */
interface OutcomeRule {
  /** May the contact be dialled again because of it? */
  retryable: boolean;
  /** Does it use up one of the contact's tries? Faults of ours (trunk, agent) don't. */
  countsAsTry: boolean;
}

/** The rule of each outcome. `unknown` is never redialled: the phone may have rung. */
export const outcomeRules = {
  answered: { retryable: false, countsAsTry: true },
  voicemail: { retryable: true, countsAsTry: true },
  busy: { retryable: true, countsAsTry: true },
  no_answer: { retryable: true, countsAsTry: true },
  declined: { retryable: false, countsAsTry: true },
  invalid_number: { retryable: false, countsAsTry: true },
  do_not_call: { retryable: false, countsAsTry: false },
  trunk_error: { retryable: true, countsAsTry: false },
  agent_error: { retryable: true, countsAsTry: false },
  cancelled: { retryable: false, countsAsTry: true },
  unknown: { retryable: false, countsAsTry: true },
} as const satisfies Record<CallOutcome, OutcomeRule>;

/** 502 and 433 have no name of their own in the contract: the one is a callee out of reach, the other a refusal. */
const sipOutcomes: Readonly<Record<number, CallOutcome>> = {
  404: 'invalid_number',
  408: 'no_answer',
  410: 'invalid_number',
  415: 'agent_error',
  433: 'declined',
  480: 'no_answer',
  484: 'invalid_number',
  485: 'invalid_number',
  486: 'busy',
  487: 'cancelled',
  488: 'agent_error',
  502: 'no_answer',
  600: 'busy',
  603: 'declined',
  604: 'invalid_number',
  606: 'agent_error',
  607: 'declined',
  608: 'declined',
};

/**
 * The outcome of an INVITE's final status (RFC 3261 section 21, RFC 8197, RFC 8688). `ringTimedOut`: we cancelled
 * it because it rang too long, so that its 487 means nobody answered.
 */
export function outcomeOfSipStatus(status: number, { ringTimedOut = false } = {}): CallOutcome {
  if (status === 487 && ringTimedOut) return 'no_answer';
  const named = sipOutcomes[status];
  if (named) return named;
  if (status >= 200 && status < 300) return 'answered';
  if (status >= 600 && status < 700) return 'declined';
  return status >= 400 && status < 600 ? 'trunk_error' : 'unknown';
}

/** A callee that the network can't route to counts as no answer, so that its tries come to an end. */
const q850Outcomes: Readonly<Record<number, CallOutcome>> = {
  1: 'invalid_number',
  2: 'no_answer',
  3: 'no_answer',
  16: 'answered',
  17: 'busy',
  18: 'no_answer',
  19: 'no_answer',
  20: 'no_answer',
  21: 'declined',
  22: 'invalid_number',
  27: 'no_answer',
  28: 'invalid_number',
  31: 'answered',
  34: 'trunk_error',
  38: 'trunk_error',
  41: 'trunk_error',
  42: 'trunk_error',
  47: 'trunk_error',
  102: 'trunk_error',
  127: 'trunk_error',
};

/** The outcome of an ITU-T Q.850 cause, as carriers send it in `Reason` headers and providers in callbacks. */
export const outcomeOfQ850Cause = (cause: number): CallOutcome => q850Outcomes[cause] ?? 'unknown';

/** Causes of ITU-T Q.850 for which a circuit is wanting: none available, congestion, the requested one not available. */
const CAPACITY_CAUSES = [34, 42, 44];
/** How carriers say it in the reason of a 403 or 480: "User channel limit exceeded D1", "Too many concurrent calls". */
const CAPACITY_WORDS = /capacity|congest|overload|concurren|channel|too many|limit (?:is )?(?:exceeded|reached)/i;

/**
 * Whether an answer says that a trunk has no room now, which is neither the callee's nor the contact's doing. So does the
 * cause of a call that could not be sent, where the server has none itself.
 */
export function isCapacity({ sipStatus, sipReason = '', q850Cause }: SipAnswer): boolean {
  if (sipStatus === 503) return true;
  const isCause = q850Cause !== undefined && CAPACITY_CAUSES.includes(q850Cause);
  if (sipStatus === undefined) return isCause;
  return (sipStatus === 403 || sipStatus === 480) && (isCause || CAPACITY_WORDS.test(sipReason));
}
