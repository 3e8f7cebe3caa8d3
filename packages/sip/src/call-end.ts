import type { SipRequest, SipResponse } from './message.ts';
import { parseReasons, q850CauseOf, type Reason } from './reason.ts';
import type { TransportErrorCode } from './transport.ts';

/** What a peer said of an end: its Reason headers (RFC 3326), and the Q.850 cause among them. */
export interface Why {
  reasons: Reason[];
  q850?: number;
}

export interface Rejected extends Why {
  kind: 'rejected';
  status: number;
  phrase: string;
  retryAfterSeconds?: number;
  response: SipResponse;
}

/** How a call ended. */
export type CallEnd =
  /** The INVITE surely never left: it may be placed again, or over another trunk. */
  | { kind: 'not_sent'; code: TransportErrorCode | 'cancelled' | 'invalid' | 'not_stored'; message: string }
  /** A final answer. `retryAfterSeconds` where the peer named it. A 3xx is not followed. */
  | Rejected
  /** The INVITE was sent, and nobody knows what came of it: it may be ringing, or have been answered. */
  | { kind: 'silence'; message: string; wasRinging: boolean }
  /**
   * Given up before it was answered: by us (`local`, `ring_timeout`), or by the caller. `status` is the INVITE's final
   * one: 487, or 200 where it was answered meanwhile and hung up at once; none where the peer never said.
   */
  | ({ kind: 'cancelled'; by: 'local' | 'ring_timeout' | 'remote'; status?: number } & Why)
  /** The end of an answered call. */
  | ({ kind: 'hung_up'; by: 'local' | 'remote' } & Why)
  /** An answered call that broke: no ACK came, no refresh of its session, or the peer doesn't know it any more. */
  | { kind: 'lost'; why: 'no_ack' | 'session_expired' | 'gone' | 'bad_answer'; message: string };

export function whyOf(message: SipRequest | SipResponse): Why {
  const reasons = parseReasons(message.headers.all('reason'));
  const q850 = q850CauseOf(reasons);
  return { reasons, ...(q850 !== undefined && { q850 }) };
}

export function rejectedBy(response: SipResponse): Rejected {
  const retryAfter = /^\d{1,9}/.exec(response.headers.get('retry-after') ?? '')?.[0];
  return {
    kind: 'rejected',
    status: response.status,
    phrase: response.phrase,
    ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
    response,
    ...whyOf(response),
  };
}
