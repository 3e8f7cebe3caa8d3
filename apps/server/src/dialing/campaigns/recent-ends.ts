import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';

/** A campaign pauses itself after so many ends within so many minutes, counted by the minute, of which so large a share failed. */
const WINDOW_MINUTES = 10;
const FEWEST_ENDS = 20;
const FAILED_SHARE = 0.8;

/** Outcomes that say that something is wrong with the trunk, the agent or the list, and not with who was called. */
const failures: ReadonlySet<CallOutcome> = new Set(['trunk_error', 'agent_error', 'invalid_number', 'unknown']);

/** Ends of a campaign's calls, three numbers for each minute that had any: the minute since the epoch, all ends, and failures. */
export type RecentEnds = readonly number[];

/** Ends that are counted: who takes a call back, or a trunk that was busy or paused, says nothing of the campaign. */
export const countable = (calls: readonly { outcome: CallOutcome; setAside?: unknown }[]) =>
  calls.filter(({ outcome, setAside }) => outcome !== 'cancelled' && setAside === undefined);

/** The ends of the last minutes, with those of now among them. */
export function withEnds(recent: RecentEnds, outcomes: readonly CallOutcome[], now: Date): RecentEnds {
  const minute = Math.floor(now.getTime() / 60_000);
  const kept: number[] = [];
  let [ends, failed] = [outcomes.length, outcomes.filter((outcome) => failures.has(outcome)).length];
  for (let at = 0; at < recent.length; at += 3) {
    if (recent[at] === minute) {
      ends += recent[at + 1]!;
      failed += recent[at + 2]!;
    } else if (recent[at]! > minute - WINDOW_MINUTES) kept.push(...recent.slice(at, at + 3));
  }
  return [...kept, minute, ends, failed];
}

/** Whether so many calls have failed lately that the campaign should go on only when somebody has looked. */
export function failTooOften(recent: RecentEnds): boolean {
  const sum = (offset: number) => recent.reduce((all, each, at) => (at % 3 === offset ? all + each : all), 0);
  const [ends, failed] = [sum(1), sum(2)];
  return ends >= FEWEST_ENDS && failed >= ends * FAILED_SHARE;
}
