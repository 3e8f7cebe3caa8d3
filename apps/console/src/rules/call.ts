import { type Call, duration, plain } from './words.ts';

const ENDS: Record<string, string> = {
  answered: 'Answered',
  voicemail: 'A voicemail answered',
  no_answer: 'Nobody answered',
  busy: 'Busy',
  declined: 'Declined',
  invalid_number: 'The number is invalid',
  do_not_call: 'Not called: the number is on a do-not-call list',
  trunk_error: 'The trunk failed',
  agent_error: 'The agent failed',
  cancelled: 'Taken back before an answer',
  unknown: 'Nobody knows whether it was placed',
};

const ENDED_BY: Record<string, string> = {
  caller: 'the caller hung up',
  callee: 'the callee hung up',
  agent: 'the agent hung up',
  service: 'it was ended by a request',
  time_limit: 'it reached its longest time',
  error: 'it broke off',
};

/** How the call stands or why it ended, in a sentence. */
export function endOf({ status, outcome, endedBy, sipStatus, sipReason }: Call): string {
  if (!outcome)
    return (
      { queued: 'Waits to be placed.', dialing: 'Is being placed.', ringing: 'It rings.', in_progress: 'They talk.' }[
        status as string
      ] ?? plain(status)
    );
  const by = endedBy && ENDED_BY[endedBy];
  const sip = outcome !== 'answered' && sipStatus ? ` (SIP ${sipStatus}${sipReason ? ` ${sipReason}` : ''})` : '';
  return `${ENDS[outcome] ?? plain(outcome)}${by && (outcome === 'answered' || outcome === 'voicemail') ? `; ${by}` : ''}${sip}.`;
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
