import { createHash } from 'node:crypto';
import type { CallOutcome, EndedBy, SipAnswer } from '../call-outcome.ts';

/** What the simulator may decide about a call; the other outcomes are ours alone. */
export type PlannedOutcome = Exclude<CallOutcome, 'do_not_call' | 'cancelled' | 'unknown'>;

/**
 * What will happen to an attempt, in milliseconds of its own time after it is placed. Each moment is present only
 * where the call comes that far, and none lies before the one above it.
 */
export interface CallPlan {
  ringingAfter?: number;
  answeredAfter?: number;
  endedAfter: number;
  outcome: PlannedOutcome;
  endedBy: EndedBy;
  /** What the trunk says with it, where that is not the usual. */
  answer?: SipAnswer;
  /** RTP packets that come from the callee, where that is not as many as the talk has. */
  packetsReceived?: number;
}

/** How the numbers behave that no script names. `weights` need not add up to anything. */
export interface Profile {
  weights: Readonly<Partial<Record<PlannedOutcome, number>>>;
  /** Shortest and longest, milliseconds. */
  ringing: readonly [number, number];
  /** Shortest and longest, milliseconds. */
  talking: readonly [number, number];
}

/** No trunk or agent errors: those are faults of an installation, and have magic numbers. */
export const defaultProfile: Profile = {
  weights: { answered: 44, voicemail: 18, busy: 8, no_answer: 24, declined: 4, invalid_number: 2 },
  ringing: [2_000, 18_000],
  talking: [8_000, 180_000],
};

/** One try of a contact, or a call that arrived, as far as the plan depends on it. */
export interface PlannedCall {
  /** The other person's number, E.164; empty where withheld. */
  to: string;
  /** `INBOUND` for a call that arrived. */
  attempt: number;
  ringTimeoutSeconds: number;
  maxCallSeconds: number;
}

/** The attempt of a call that arrived: we placed none. */
export const INBOUND = 0;

type Script = (attempt: number) => Pick<CallPlan, 'outcome' | 'answer' | 'packetsReceived'> & { talking?: number };

const answers: Script = () => ({ outcome: 'answered', talking: 30_000 });

/** A trunk without room. */
const full = (answer: SipAnswer) => ({ outcome: 'trunk_error' as const, answer });

/** Magic numbers: the last four digits of a +1 NPA 555 number. */
export const scripts: Readonly<Record<string, Script>> = {
  '0100': answers,
  '0101': () => ({ outcome: 'answered', talking: 1_000 }),
  '0102': () => ({ outcome: 'answered', talking: 7 * 24 * 3_600_000 }),
  '0103': () => ({ outcome: 'declined' }),
  '0104': () => ({ outcome: 'invalid_number' }),
  '0108': () => ({ outcome: 'no_answer' }),
  '0117': () => ({ outcome: 'voicemail', talking: 20_000 }),
  '0150': () => ({ outcome: 'trunk_error' }),
  '0151': () => full({ sipStatus: 503, sipReason: 'Service Unavailable' }),
  '0152': () => full({ sipStatus: 403, sipReason: 'User channel limit exceeded D1' }),
  '0153': () => full({ sipStatus: 480, sipReason: 'Temporarily Unavailable', q850Cause: 34 }),
  '0154': () => ({ outcome: 'trunk_error', answer: { sipStatus: 403, sipReason: 'Caller ID not allowed' } }),
  '0155': () => ({ outcome: 'invalid_number', answer: { sipStatus: 484, sipReason: 'Address Incomplete' } }),
  '0156': () => ({ outcome: 'answered', talking: 1_000, packetsReceived: 0 }),
  '0157': (attempt) => (attempt < 2 ? full({ sipStatus: 503, sipReason: 'Service Unavailable' }) : answers(attempt)),
  '0160': () => ({ outcome: 'agent_error' }),
  '0172': (attempt) => (attempt < 2 ? { outcome: 'busy' } : answers(attempt)),
  '0173': (attempt) => (attempt < 3 ? { outcome: 'no_answer' } : answers(attempt)),
  '0186': () => ({ outcome: 'busy' }),
  '0190': (attempt) => (attempt === INBOUND ? answers(attempt) : { outcome: 'declined' }),
};

const scriptOf = (to: string): Script | undefined => {
  const suffix = /^\+1\d{3}555(\d{4})$/.exec(to)?.[1];
  return suffix === undefined ? undefined : scripts[suffix];
};

/** After declining, this one calls back the number that called it, so that inbound calls can be tried. */
export const callsBack = (to: string): boolean => /^\+1\d{3}5550190$/.test(to);
/** Milliseconds from the call to the one back. */
export const CALLS_BACK_AFTER = 5_000;

/** The SIP status that a trunk would have given with an outcome. */
export const sipStatusOf: Readonly<Record<PlannedOutcome, number>> = {
  answered: 200,
  voicemail: 200,
  busy: 486,
  no_answer: 487,
  declined: 603,
  invalid_number: 404,
  trunk_error: 500,
  agent_error: 487,
};

/** Numbers in [0, 1) that depend on nothing but the text. */
function chances(text: string): (index: number) => number {
  const digest = createHash('sha256').update(text).digest();
  return (index) => digest.readUInt32BE(index * 4) / 2 ** 32;
}

/** A value between shortest and longest, short ones more often. */
const within = ([shortest, longest]: readonly [number, number], chance: number) =>
  Math.round(shortest * (longest / shortest) ** chance);

function pick(weights: Profile['weights'], chance: number): PlannedOutcome {
  const entries = Object.entries(weights) as [PlannedOutcome, number][];
  let left = chance * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [outcome, weight] of entries) {
    left -= weight;
    if (left < 0) return outcome;
  }
  return entries.at(-1)?.[0] ?? 'no_answer';
}

/** The plan of an attempt: a pure function of seed, number and attempt, and of the limits of the call. */
export function planCall(seed: string, call: PlannedCall, profile: Profile = defaultProfile): CallPlan {
  const chance = chances(`${seed}\0${call.to}\0${call.attempt}`);
  const script = scriptOf(call.to)?.(call.attempt);
  if (call.attempt === INBOUND) return planInbound(call, script?.talking ?? within(profile.talking, chance(3)));
  const outcome = script?.outcome ?? pick(profile.weights, chance(0));
  const said = {
    ...(script?.answer && { answer: script.answer }),
    ...(script?.packetsReceived !== undefined && { packetsReceived: script.packetsReceived }),
  };
  const setUp = Math.round(200 + chance(1) * 1_500);
  if (outcome === 'busy' || outcome === 'invalid_number' || outcome === 'trunk_error' || outcome === 'agent_error') {
    return { endedAfter: setUp, outcome, endedBy: outcome === 'agent_error' ? 'agent' : 'error', ...said };
  }

  const ringTimeout = call.ringTimeoutSeconds * 1_000;
  const ringing = script
    ? Math.min(within(profile.ringing, chance(2)), ringTimeout)
    : within(profile.ringing, chance(2));
  if (outcome === 'no_answer' || ringing > ringTimeout) {
    return { ringingAfter: setUp, endedAfter: setUp + ringTimeout, outcome: 'no_answer', endedBy: 'service' };
  }
  const decided = setUp + ringing;
  if (outcome === 'declined') return { ringingAfter: setUp, endedAfter: decided, outcome, endedBy: 'callee' };

  const talking = script?.talking ?? within(profile.talking, chance(3));
  const longest = call.maxCallSeconds * 1_000;
  const hangsUp: EndedBy = chance(4) < 0.7 ? 'callee' : 'agent';
  return {
    ringingAfter: setUp,
    answeredAfter: decided,
    endedAfter: decided + Math.min(talking, longest),
    outcome,
    endedBy: talking > longest ? 'time_limit' : hangsUp,
    ...said,
  };
}

/** It is up as soon as it is answered, until the caller hangs up. */
function planInbound({ maxCallSeconds }: PlannedCall, talking: number): CallPlan {
  const longest = maxCallSeconds * 1_000;
  const endedBy = talking > longest ? 'time_limit' : 'caller';
  return { answeredAfter: 0, endedAfter: Math.min(talking, longest), outcome: 'answered', endedBy };
}
