import type { components } from '@trunkline/client';
import { type Call, duration, type Known, outcomeWords, plain } from './words.ts';

type Schemas = components['schemas'];

const STANDS: Readonly<Record<string, string>> = {
  queued: 'Waits to be placed.',
  dialing: 'Is being placed.',
  ringing: 'It rings.',
  in_progress: 'They talk.',
};

const ENDED_BY = {
  caller: 'the caller hung up',
  callee: 'the callee hung up',
  agent: 'the agent hung up',
  service: 'it was ended by a request',
  time_limit: 'it reached its longest time',
  error: 'it broke off',
  unknown: 'nobody knows who hung up',
} satisfies Record<Known<Schemas['CallEndedBy']>, string>;

/** How the call stands or why it ended, in a sentence. */
export function endOf({ status, outcome, endedBy, sipStatus, sipReason }: Call): string {
  if (!outcome) return STANDS[status] ?? plain(status);
  const by = endedBy && (ENDED_BY as Record<string, string>)[endedBy];
  const sip = outcome !== 'answered' && sipStatus ? ` (SIP ${sipStatus}${sipReason ? ` ${sipReason}` : ''})` : '';
  return `${outcomeWords[outcome] ?? plain(outcome)}${by && (outcome === 'answered' || outcome === 'voicemail') ? `; ${by}` : ''}${sip}.`;
}

interface Step {
  at: string;
  says: string;
  /** Since the step before. */
  after: string;
}

/** What happened when, and how long after what was before. */
export function timelineOf(call: Call): Step[] {
  const steps: [string | undefined, string][] = [
    [call.queuedAt, call.direction === 'inbound' ? 'arrived' : 'taken up'],
    [call.dialedAt, 'placed'],
    [call.ringingAt, 'rang'],
    [call.answeredAt, 'answered'],
    [call.endedAt, 'ended'],
    [call.result?.recordedAt, 'result reported'],
  ];
  const known = steps.filter((step): step is [string, string] => step[0] !== undefined);
  return known.map(([at, says], index) => {
    const before = known[index - 1]?.[0];
    return { at, says, after: before ? `+${duration(Math.max(0, (Date.parse(at) - Date.parse(before)) / 1000))}` : '' };
  });
}

/** Rows that have no ID, each with a name: its time, and which it is of those at that time. */
export function named<Row extends { at: string }>(rows: readonly Row[]): (Row & { name: string })[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const place = (counts.get(row.at) ?? 0) + 1;
    counts.set(row.at, place);
    return { ...row, name: `${row.at} ${place}` };
  });
}
