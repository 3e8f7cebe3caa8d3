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

/**
 * 502 and 433 have no name of their own in the contract: the one is a callee out of reach, the other a refusal. That our
 * sound is not taken (415, 488, 606) is a matter of the trunk's codecs: no agent has spoken by then.
 */
const sipOutcomes: Readonly<Record<number, CallOutcome>> = {
  404: 'invalid_number',
  408: 'no_answer',
  410: 'invalid_number',
  433: 'declined',
  480: 'no_answer',
  484: 'invalid_number',
  485: 'invalid_number',
  486: 'busy',
  487: 'cancelled',
  502: 'no_answer',
  600: 'busy',
  603: 'declined',
  604: 'invalid_number',
  606: 'trunk_error',
  607: 'declined',
  608: 'declined',
};

/**
 * Causes of ITU-T Q.850 that say what became of a call, whatever the status beside them: carriers make the status by tables
 * of their own, so that a busy line comes as a 500, and a number that nobody has as a 503. A callee that the network can't
 * route to counts as no answer, so that its tries come to an end.
 */
const causeOutcomes: Readonly<Record<number, CallOutcome>> = {
  1: 'invalid_number',
  2: 'no_answer',
  3: 'no_answer',
  17: 'busy',
  18: 'no_answer',
  19: 'no_answer',
  20: 'no_answer',
  21: 'declined',
  22: 'invalid_number',
  27: 'no_answer',
  28: 'invalid_number',
  34: 'trunk_error',
  38: 'trunk_error',
  41: 'trunk_error',
  42: 'trunk_error',
  44: 'trunk_error',
  47: 'trunk_error',
};

/** What a gateway makes of these statuses where it has no cause (RFC 3398): the status says more. */
const echoes: Readonly<Record<number, readonly number[]>> = {
  2: [404, 410, 604],
  3: [404, 410, 604],
  21: [401, 402, 403, 407],
  41: [400, 480],
};

/** What the cause of an answer says of the call, if it says anything. */
function outcomeOfCause({ sipStatus = 0, q850Cause }: SipAnswer): CallOutcome | undefined {
  if (q850Cause === undefined || echoes[q850Cause]?.includes(sipStatus)) return undefined;
  return causeOutcomes[q850Cause];
}

/**
 * The outcome of an INVITE's final answer: by its Q.850 cause, and else by its status (RFC 3261 section 21, RFC 8197, RFC
 * 8688). A 3xx is not followed.
 */
export function outcomeOfAnswer(answer: SipAnswer): CallOutcome {
  if (isCapacity(answer)) return 'trunk_error';
  const { sipStatus: status = 0 } = answer;
  const named = outcomeOfCause(answer) ?? sipOutcomes[status];
  if (named) return named;
  if (status >= 200 && status < 300) return 'answered';
  if (status >= 600 && status < 700) return 'declined';
  return status >= 300 && status < 600 ? 'trunk_error' : 'unknown';
}

/** Causes of ITU-T Q.850 for which a circuit is wanting: none available, congestion, the requested one not available. */
const CAPACITY_CAUSES = [34, 42, 44];
/** How carriers say it in the reason of a 403 or 480: "User channel limit exceeded D1", "Too many concurrent calls". */
const CAPACITY_WORDS = /capacity|congest|overload|concurren|channel|too many|limit (?:is )?(?:exceeded|reached)/i;

/**
 * Whether an answer says that a trunk has no room now, which is neither the callee's nor the contact's doing. So does the
 * cause of a call that could not be sent, where the server has none itself. A 503 whose cause tells of the callee doesn't.
 */
export function isCapacity(answer: SipAnswer): boolean {
  const { sipStatus, sipReason = '', q850Cause } = answer;
  if (q850Cause !== undefined && CAPACITY_CAUSES.includes(q850Cause)) return true;
  const ofCause = outcomeOfCause(answer);
  if (ofCause !== undefined && ofCause !== 'trunk_error') return false;
  return sipStatus === 503 || ((sipStatus === 403 || sipStatus === 480) && CAPACITY_WORDS.test(sipReason));
}
