import type { CallEvent, CallRequest, CallState, CallTimes } from '../call-gateway.ts';
import type { CallOutcome, EndedBy, MediaReport, SipAnswer } from '../call-outcome.ts';
import { type CallPlan, type PlannedCall, sipStatusOf } from './plan.ts';

/** Milliseconds of sound in a packet. */
const PACKET_MS = 20;

/** A simulated call as it is stored. The end is stored only where somebody ended it before its plan did. */
export interface StoredCall extends PlannedCall {
  roomId: string;
  /** What a witness is told before it is placed; absent for one that has arrived, or that was read. */
  placing?: Pick<CallRequest, 'workspaceId' | 'owner'>;
  placedAt: Date;
  /** How often it was placed; more than once is a fault of the caller. */
  placements: number;
  ended?: StoredEnd;
}

export interface StoredEnd {
  at: Date;
  by: EndedBy;
  outcome: CallOutcome;
}

/** A plan on the clock: `speed` 2 halves every span, and with `Infinity` all happens at once. */
interface Moments {
  ringingAt?: Date;
  answeredAt?: Date;
  endedAt: Date;
}

function momentsOf(placedAt: Date, plan: CallPlan, speed: number): Moments {
  const at = (after: number) => new Date(placedAt.getTime() + after / speed);
  return {
    ...(plan.ringingAfter !== undefined && { ringingAt: at(plan.ringingAfter) }),
    ...(plan.answeredAfter !== undefined && { answeredAt: at(plan.answeredAfter) }),
    endedAt: at(plan.endedAfter),
  };
}

const answerOf = ({ outcome, answer }: CallPlan): SipAnswer => answer ?? { sipStatus: sipStatusOf[outcome] };

/** The sound of an answered call: fifty packets a second, none of them lost. */
function mediaOf({ answeredAfter, endedAfter, packetsReceived }: CallPlan): MediaReport {
  if (answeredAfter === undefined) return {};
  const all = Math.round((endedAfter - answeredAfter) / PACKET_MS);
  return { codec: 'PCMU', packetsReceived: packetsReceived ?? all, packetsLost: 0 };
}

/** Every event that a call will have if nobody ends it, in order. */
export function eventsOf(roomId: string, placedAt: Date, plan: CallPlan, speed: number): CallEvent[] {
  const { ringingAt, answeredAt, endedAt } = momentsOf(placedAt, plan, speed);
  const { outcome, endedBy } = plan;
  const said = { ...answerOf(plan), ...mediaOf(plan) };
  return [
    ...(ringingAt ? [{ roomId, at: ringingAt, type: 'ringing' as const }] : []),
    ...(answeredAt ? [{ roomId, at: answeredAt, type: 'answered' as const }] : []),
    { roomId, at: endedAt, type: 'ended', outcome, endedBy, ...said },
  ];
}

/** The state of a stored call at an instant: nothing but the row, its plan and the time that has passed. */
export function stateOf(
  call: StoredCall,
  plan: CallPlan,
  speed: number,
  now: Date,
): Extract<CallState, { state: 'live' | 'ended' }> {
  const moments = momentsOf(call.placedAt, plan, speed);
  const until = call.ended?.at ?? now;
  const { ringingAt, answeredAt } = moments;
  const times: CallTimes = {
    ...(ringingAt && ringingAt <= until && { ringingAt }),
    ...(answeredAt && answeredAt <= until && { answeredAt }),
  };
  if (call.ended) {
    const { outcome, by, at } = call.ended;
    return { state: 'ended', outcome, endedBy: by, endedAt: at, ...times };
  }
  if (moments.endedAt <= now) {
    const { outcome, endedBy } = plan;
    return {
      state: 'ended',
      outcome,
      endedBy,
      endedAt: moments.endedAt,
      ...answerOf(plan),
      ...mediaOf(plan),
      ...times,
    };
  }
  const phase = times.answeredAt ? 'answered' : times.ringingAt ? 'ringing' : 'dialing';
  return { state: 'live', phase, ...times };
}
