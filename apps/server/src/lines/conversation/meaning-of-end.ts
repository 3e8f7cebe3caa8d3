import type { Answered } from '../media/answered/answered-voice.ts';
import { SURE } from '../media/answered/judge-answerer.ts';
import type { PlaceResult } from '../telephony/call-gateway.ts';
import type { CallOutcome, EndedBy, SipAnswer } from '../telephony/call-outcome.ts';
import { outcomeOfAnswer } from '../telephony/outcomes.ts';
import type { LegEnd, NotSent, Unready } from './leg.ts';

/** Why we ended a call ourselves. `outcome` if it isn't what the call's state says. */
export interface OwnEnd {
  endedBy: EndedBy;
  outcome?: CallOutcome;
}

/** What the end of a call means. */
export interface EndMeaning extends SipAnswer {
  outcome: CallOutcome;
  endedBy: EndedBy;
}

/**
 * What the end of a call means.
 * @param own why we ended it, if we did
 * @param far who is at the other end
 */
export function meaningOfEnd(end: LegEnd, own: OwnEnd | undefined, far: 'callee' | 'caller'): EndMeaning {
  const we = (outcome: CallOutcome): EndMeaning => ({
    outcome: own?.outcome ?? outcome,
    endedBy: own?.endedBy ?? 'service',
  });
  switch (end.kind) {
    case 'not_sent':
      if (end.why === 'cancelled') return we('cancelled');
      return { outcome: end.why === 'not_kept' ? 'unknown' : 'trunk_error', endedBy: 'error' };
    case 'rejected': {
      const { kind: _kind, ...answer } = end;
      // We have refused the caller; without a reason of ours, since its agent did not come in time.
      if (far === 'caller') return { ...(own ? we('cancelled') : noAgentInTime), ...answer };
      const outcome = outcomeOfAnswer(answer);
      return { outcome, endedBy: outcome === 'trunk_error' ? 'error' : far, ...answer };
    }
    case 'silence': {
      const { kind: _kind, ...answer } = end;
      return { outcome: 'unknown', endedBy: 'error', ...answer };
    }
    case 'cancelled': {
      const { kind: _kind, by, ...answer } = end;
      if (by === 'ring_timeout') return { outcome: 'no_answer', endedBy: 'service', ...answer };
      if (by === 'far') return { outcome: 'cancelled', endedBy: far, ...answer };
      return { ...we('cancelled'), ...answer };
    }
    case 'hung_up': {
      const { kind: _kind, by, ...answer } = end;
      return by === 'far' ? { outcome: 'answered', endedBy: far, ...answer } : we('answered');
    }
    case 'lost': {
      const { kind: _kind, ...answer } = end;
      return { outcome: own?.outcome ?? 'answered', endedBy: 'error', ...answer };
    }
  }
}

/** The end of a call that a machine has answered for sure: for a doubt nobody is called again who has talked. */
export function byMachine(meaning: EndMeaning, answered: Answered | undefined): EndMeaning {
  const isMachine = answered?.answeredBy === 'machine' && answered.confidence >= SURE;
  return isMachine && meaning.outcome === 'answered' ? { ...meaning, outcome: 'voicemail' } : meaning;
}

const noAgentInTime: EndMeaning = { outcome: 'agent_error', endedBy: 'error' };

/** Of ITU-T Q.850: no circuit or channel available. It passes, and is not the callee's doing. */
const NO_CHANNEL = 34;

/** What whoever placed a call is told of one of which nothing was sent. */
export function resultOfUnready(unready: Unready): PlaceResult {
  const { why, text: detail } = unready;
  if (why === 'no_voice') return { status: 'rejected', outcome: 'agent_error', detail };
  return { status: 'rejected', outcome: 'trunk_error', detail, ...(why === 'no_room' && { q850Cause: NO_CHANNEL }) };
}

/** The same if it was about to be sent, or was asked to end before. */
export function resultOfNotSent({ why, text: detail }: { why: NotSent; text: string }): PlaceResult {
  if (why === 'unwitnessed') return { status: 'withheld', detail };
  if (why === 'not_kept') return { status: 'unknown', detail };
  return { status: 'rejected', outcome: why === 'fault' ? 'trunk_error' : 'cancelled', detail };
}
