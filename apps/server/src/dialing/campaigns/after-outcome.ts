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

/** Minutes before a contact is tried again after a fault that is ours (campaigns.md, "How often again"). */
const FAULT_BACKOFF_MINUTES = [1, 5, 15];
const MOST_TRUNK_FAULTS = 5;
const MOST_AGENT_FAULTS = 3;

const minutesAfter = (at: Date, minutes: number) => new Date(at.getTime() + minutes * 60_000);
const faultBackoff = (faults: number) => FAULT_BACKOFF_MINUTES[Math.min(faults, FAULT_BACKOFF_MINUTES.length) - 1]!;

/**
 * What becomes of a contact whose call ended: done, or tried again later. `retryPolicy` holds the minutes before
 * attempt 2, 3, … A trunk's failure is not the contact's attempt; nor is an agent's, at most three times. One that is set
 * aside, since its trunk had no room or was paused for it, counts for nothing. A call that was cancelled for somebody who
 * is not to be called any more (`forbidden`) has its contact left out.
 */
export function afterOutcome(
  tally: ContactTally,
  outcome: CallOutcome,
  retryPolicy: readonly number[],
  endedAt: Date,
  setAside?: SetAside,
  forbidden = false,
): ContactNext {
  // As if it had not been called.
  if (setAside) return { ...tally, state: 'waiting', nextAttemptAt: endedAt, reason: setAside };
  const { retryable, countsAsTry } = outcomeRules[outcome];
  const next = { ...tally, nextAttemptAt: endedAt };
  if (countsAsTry) next.tries += 1;
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
  if (outcome === 'agent_error') {
    next.agentFaults += 1;
    if (next.agentFaults > MOST_AGENT_FAULTS) return { ...next, state: 'done', reason: 'retries_exhausted' };
    return retry(faultBackoff(next.agentFaults));
  }
  if (retryable) {
    const minutes = retryPolicy[next.tries - 1];
    return minutes === undefined ? { ...next, state: 'done', reason: 'retries_exhausted' } : retry(minutes);
  }
  const isForbidden = outcome === 'do_not_call' || (outcome === 'cancelled' && forbidden);
  if (isForbidden) return { ...next, state: 'skipped', reason: 'do_not_call' };
  if (outcome === 'invalid_number') return { ...next, state: 'done', reason: 'invalid_number' };
  if (outcome === 'unknown') return { ...next, state: 'done', reason: 'outcome_unknown' };
  return { ...next, state: 'done', reason: null };
}
