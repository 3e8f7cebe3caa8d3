import type { Core } from './core.ts';
import type { DigestClient, Tries } from './digest-client.ts';
import type { SipRequest, SipResponse } from './message.ts';
import type { Flow, TransportError } from './transport.ts';

/** What came of a request other than INVITE. */
export type Exchanged =
  | { kind: 'response'; response: SipResponse; flow: Flow; wasChallenged: boolean }
  /** It was sent, and no final answer came. */
  | { kind: 'silence'; message: string; isConnectionLost: boolean }
  /** The peer surely has none of it. */
  | { kind: 'not_sent'; error: TransportError };

/** Makes a request, anew for each time that it is sent: each with a branch and a CSeq of its own. */
export type MakeRequest = (flow: Flow) => SipRequest;

/**
 * Sends a request other than INVITE, and again with an answer to a challenge (RFC 3261 section 22.2).
 *
 * @param limitMs how long a final response may take; 64 × T1 unless told otherwise
 */
export async function exchange(
  core: Core,
  flow: Flow,
  make: MakeRequest,
  digest: DigestClient,
  limitMs?: number,
): Promise<Exchanged> {
  const tries: Tries = new Map();
  for (let wasChallenged = false; ; wasChallenged = true) {
    const request = make(flow);
    digest.authorize(request);
    const exchanged = await once(core, flow, request, limitMs);
    if (exchanged.kind !== 'response') return exchanged;
    const { status } = exchanged.response;
    const isChallenge = status === 401 || status === 407;
    if (!isChallenge || !digest.learn(exchanged.response, tries))
      return { ...exchanged, wasChallenged: wasChallenged || isChallenge };
  }
}

type Once = { kind: 'response'; response: SipResponse; flow: Flow } | Exclude<Exchanged, { kind: 'response' }>;

const once = (core: Core, flow: Flow, request: SipRequest, limitMs: number | undefined) =>
  new Promise<Once>((resolve) => {
    core.transactions.send(
      request,
      flow,
      {
        onResponse: (response, from) => response.status >= 200 && resolve({ kind: 'response', response, flow: from }),
        onTimeout: () => resolve({ kind: 'silence', message: 'No answer came.', isConnectionLost: false }),
        onFailure: (error, mayHaveLeft) =>
          resolve(
            mayHaveLeft
              ? { kind: 'silence', message: error.message, isConnectionLost: true }
              : { kind: 'not_sent', error },
          ),
      },
      limitMs,
    );
  });
