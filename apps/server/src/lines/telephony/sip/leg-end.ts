import { type CallEnd, parseNameAddr, parseUri } from '@trunkline/sip';
import type { LegEnd, NotSent } from '../../conversation/leg.ts';
import type { SipAnswer } from '../call-outcome.ts';

/** How a call ended, as a conversation is told it. @param notKept why it was not kept, if it wasn't */
export function legEndOf(end: CallEnd, notKept: NotSent = 'not_kept'): LegEnd {
  const answer = answerOf(end);
  switch (end.kind) {
    case 'not_sent': {
      const why = end.code === 'cancelled' ? 'cancelled' : end.code === 'not_stored' ? notKept : 'fault';
      return { kind: 'not_sent', why, text: end.message };
    }
    case 'rejected':
      return { kind: 'rejected', ...answer };
    case 'silence':
      return { kind: 'silence', ...(!end.wasRinging && { wasSilent: true }) };
    case 'cancelled':
      return { kind: 'cancelled', by: end.by === 'ring_timeout' ? end.by : sides[end.by], ...answer };
    case 'hung_up':
      return { kind: 'hung_up', by: sides[end.by], ...(end.by === 'remote' && answer) };
    case 'lost':
      return { kind: 'lost', sipReason: end.message };
  }
}

const sides = { local: 'us', remote: 'far' } as const;

/** What the other side said of an end. */
export function answerOf(end: CallEnd): SipAnswer {
  const reasons = 'reasons' in end ? end.reasons : [];
  const text = reasons.find((reason) => reason.text)?.text ?? (end.kind === 'rejected' ? phraseOf(end) : undefined);
  const { status } = end as { status?: number };
  return {
    ...(status !== undefined && { sipStatus: status }),
    ...(text && { sipReason: text.slice(0, 255) }),
    ...('q850' in end && end.q850 !== undefined && { q850Cause: end.q850 }),
    ...(end.kind === 'rejected' && end.retryAfterSeconds !== undefined && { retryAfterSeconds: end.retryAfterSeconds }),
  };
}

/** What a 3xx says, with the host that it points to; not whom there, which may be a number. */
function phraseOf({ status, phrase, response }: Extract<CallEnd, { kind: 'rejected' }>): string {
  const contact = response.headers.get('contact');
  if (status < 300 || status > 399 || !contact) return phrase;
  try {
    const { host, port } = parseUri(parseNameAddr(contact).uri);
    return `${phrase}, to ${port === undefined ? host : `${host}:${port}`}`;
  } catch {
    return phrase;
  }
}
