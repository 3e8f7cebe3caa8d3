import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import { outcomeRules } from '../../lines/telephony/outcomes.ts';
import type { SetAside } from '../../lines/trunks/after-calls.ts';

/** What a contact's attempts have come to so far. */
export interface ContactTally {
  /** Attempts that the retry policy paid for. */
  tries: number;
  /** Attempts that failed at the trunk. */
  faults: number;
  /** Attempts that failed at the agent. */
  agentFaults: number;
}

export interface ContactNext extends ContactTally {
  state: 'waiting' | 'done' | 'skipped';
  nextAttemptAt: Date;
  reason: string | null;
}

/** The end of a contact's call. */
export interface ContactEnd {
  outcome: CallOutcome;
  endedAt: Date;
  wasAnswered?: boolean;
  setAside?: SetAside | 'agent_failing' | undefined;
  /** The number of this attempt, from 1: what is set aside counts in it alone. */
  attempt?: number;
  /** Whether the person is not to be called any more. */
  forbidden?: boolean | undefined;
}

/** What a campaign says of further attempts. */
export interface RetryRules {
  /** Minutes before attempt 2, 3, … */
  retryPolicy: readonly number[];
  /** Hours before who answered and found no agent is called again; null for never. */
  abandonedRetryHours?: number | null;
}

/** Minutes before a contact is tried again after a fault that is ours (campaigns.md, "How often again"). */
const FAULT_BACKOFF_MINUTES = [1, 5, 15];
const MOST_TRUNK_FAULTS = 5;
const MOST_AGENT_FAULTS = 3;
/** So many attempts found no room at the trunk, and each more is a fault of it: something else may be wrong there. */
const MOST_SET_ASIDE = 20;

const minutesAfter = (at: Date, minutes: number) => new Date(at.getTime() + minutes * 60_000);
const faultBackoff = (faults: number) => FAULT_BACKOFF_MINUTES[Math.min(faults, FAULT_BACKOFF_MINUTES.length) - 1]!;

/**
 * What becomes of a contact whose call ended: done, or tried again later. A trunk's failure is not the contact's attempt; nor is an agent's, at most three times. One that is set
 * aside, since its trunk had no room or was paused for it, counts for nothing; for want of room, twenty times at most. A call that was cancelled for somebody who
 * is not to be called any more (`forbidden`) has its contact left out. Who answered and found no agent was disturbed: that
 * is an attempt, and the next comes after `abandonedRetryHours`, if ever.
 */
export function afterOutcome(
  tally: ContactTally,
  { outcome, endedAt, wasAnswered = false, setAside, attempt = 1, forbidden = false }: ContactEnd,
  { retryPolicy, abandonedRetryHours = null }: RetryRules,
): ContactNext {
  const isAsideTooOften =
    setAside === 'trunk_busy' && attempt - tally.tries - tally.faults - tally.agentFaults > MOST_SET_ASIDE;
  // As if it had not been called.
  if (setAside && !isAsideTooOften) return { ...tally, state: 'waiting', nextAttemptAt: endedAt, reason: setAside };
  const { retryable, countsAsTry } = outcomeRules[outcome];
  const next = { ...tally, nextAttemptAt: endedAt };
  const isAbandoned = outcome === 'agent_error' && wasAnswered;
  if (countsAsTry || isAbandoned) next.tries += 1;
  const retry = (minutes: number): ContactNext => ({
    ...next,
    state: 'waiting',
    nextAttemptAt: minutesAfter(endedAt, minutes),
    reason: 'retry_later',
  });

  if (outcome === 'trunk_error') {
    next.faults += 1;
    if (next.faults >= MOST_TRUNK_FAULTS) return { ...next, state: 'skipped', reason: 'no_caller_id' };
    return retry(faultBackoff(next.faults));
  }
  if (isAbandoned && abandonedRetryHours === null) return { ...next, state: 'done', reason: 'abandoned' };
  if (outcome === 'agent_error' && !wasAnswered) {
    next.agentFaults += 1;
    if (next.agentFaults > MOST_AGENT_FAULTS) return { ...next, state: 'done', reason: 'retries_exhausted' };
    return retry(faultBackoff(next.agentFaults));
  }
  if (retryable) {
    const minutes = retryPolicy[next.tries - 1];
    if (minutes === undefined) return { ...next, state: 'done', reason: 'retries_exhausted' };
    return retry(isAbandoned ? Math.max(minutes, abandonedRetryHours! * 60) : minutes);
  }
  const isForbidden = outcome === 'do_not_call' || (outcome === 'cancelled' && forbidden);
  if (isForbidden) return { ...next, state: 'skipped', reason: 'do_not_call' };
  if (outcome === 'invalid_number') return { ...next, state: 'done', reason: 'invalid_number' };
  if (outcome === 'unknown') return { ...next, state: 'done', reason: 'outcome_unknown' };
  return { ...next, state: 'done', reason: null };
}
