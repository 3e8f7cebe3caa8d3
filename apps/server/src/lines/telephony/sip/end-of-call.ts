import type { CallEnd } from '@trunkline/sip';
import type { CallOutcome, EndedBy, SipAnswer } from '../call-outcome.ts';
import { isCapacity, outcomeOfSipStatus } from '../outcomes.ts';

/** Why we ended a call ourselves. `outcome` where it isn't what the call's state says. */
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
 * @param own why we ended it, where we did
 * @param far who is at the other end
 */
export function meaningOfEnd(end: CallEnd, own: OwnEnd | undefined, far: 'callee' | 'caller'): EndMeaning {
  const answer = answerOf(end);
  switch (end.kind) {
    case 'not_sent':
      if (end.code === 'cancelled') return { outcome: own?.outcome ?? 'cancelled', endedBy: own?.endedBy ?? 'service' };
      return { outcome: end.code === 'not_stored' ? 'unknown' : 'trunk_error', endedBy: 'error' };
    case 'rejected': {
      // We have refused the caller: nobody to talk to, or no room.
      if (far === 'caller') {
        const fault = end.status === 503 || end.status === 488 ? 'trunk_error' : 'agent_error';
        const outcome = own ? (own.outcome ?? 'cancelled') : fault;
        return { outcome, endedBy: own?.endedBy ?? 'error', ...answer };
      }
      const outcome = isCapacity(answer) ? 'trunk_error' : outcomeOfSipStatus(end.status);
      return { outcome, endedBy: outcome === 'trunk_error' || outcome === 'agent_error' ? 'error' : far, ...answer };
    }
    case 'silence':
      return { outcome: 'unknown', endedBy: 'error' };
    case 'cancelled':
      if (end.by === 'ring_timeout') return { outcome: 'no_answer', endedBy: 'service', ...answer };
      if (end.by === 'remote') return { outcome: 'cancelled', endedBy: far, ...answer };
      return { outcome: own?.outcome ?? 'cancelled', endedBy: own?.endedBy ?? 'service', ...answer };
    case 'hung_up':
      if (end.by === 'remote') return { outcome: 'answered', endedBy: far, ...answer };
      return { outcome: own?.outcome ?? 'answered', endedBy: own?.endedBy ?? 'service' };
    case 'lost':
      return { outcome: own?.outcome ?? 'answered', endedBy: 'error', sipReason: end.message };
  }
}

function answerOf(end: CallEnd): SipAnswer {
  const reasons = 'reasons' in end ? end.reasons : [];
  const text = reasons.find((reason) => reason.text)?.text ?? (end.kind === 'rejected' ? end.phrase : undefined);
  const { status } = end as { status?: number };
  return {
    ...(status !== undefined && { sipStatus: status }),
    ...(text && { sipReason: text.slice(0, 255) }),
    ...('q850' in end && end.q850 !== undefined && { q850Cause: end.q850 }),
  };
}
