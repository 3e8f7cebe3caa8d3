import type { CallOutcome } from '../telephony/call-outcome.ts';

/** How a number's trunk has fared lately. */
export interface TrunkHealth {
  /** Calls in a row that it failed. */
  faults: number;
  /** Until when it is left alone; null where it is in use. */
  coolingUntil: Date | null;
}

/** So many faults in a row, and a number cools. */
const FAULTS_TO_COOL = 3;
/** Minutes for which it cools, by how often it did in a row. */
const COOLING_MINUTES = [1, 5, 15, 60];
const MOST_FAULTS = 1000;

/** Outcomes that say nothing of the trunk. */
const silent = new Set<CallOutcome>(['cancelled', 'unknown', 'do_not_call']);

/**
 * What the ends of some calls, in their order, make of a number. After three faults in a row it cools for a minute, and
 * comes back by itself; fails its next call too, it cools for 5, then 15, then 60. Any call that the trunk has carried
 * ends that. Faults of calls that were up when it began to cool count no more.
 */
export function afterCalls(health: TrunkHealth, outcomes: readonly CallOutcome[], now: Date): TrunkHealth {
  let { faults, coolingUntil } = health;
  for (const outcome of outcomes) {
    if (silent.has(outcome)) continue;
    if (outcome !== 'trunk_error') {
      faults = 0;
      coolingUntil = null;
    } else if (!coolingUntil || coolingUntil <= now) {
      faults = Math.min(faults + 1, MOST_FAULTS);
      const times = faults - FAULTS_TO_COOL;
      if (times >= 0) coolingUntil = new Date(now.getTime() + minutesOf(times) * 60_000);
    }
  }
  return { faults, coolingUntil };
}

const minutesOf = (times: number): number => COOLING_MINUTES[Math.min(times, COOLING_MINUTES.length - 1)]!;
