import type { SipRequest } from '@trunkline/sip';
import { userOfHeader } from './users-in-request.ts';

const MAX_TEXT = 255;

/** What the INVITE of a call that arrives says of it beside the two numbers, as the agent is told it. */
export interface SaidOfCaller {
  /** How sure the caller's operator is of the caller (RFC 8588): `A`, `B` or `C`. */
  attestation?: string;
  /** What the checks of the caller's number came to (3GPP TS 24.229), such as `TN-Validation-Passed`. */
  verstat?: string;
  /** The number that was called before the call was diverted (RFC 5806), as it stands there. */
  diversion?: string;
  /** Those that the trunk names, by the names that it gives them. */
  headers?: Record<string, string>;
}

/**
 * Reads it; nothing if there is none.
 * @param names the headers that the trunk has passed on, which begin with `X-`
 */
export function saidOfCaller({ headers }: SipRequest, names: readonly string[]): SaidOfCaller | undefined {
  const asserted = ['p-asserted-identity', 'from'].map((name) => headers.get(name) ?? '');
  const attestation = /^\s*([ABC])\b/i.exec(headers.get('p-attestation-indicator') ?? '')?.[1]?.toUpperCase();
  const verstat = asserted.map((value) => /;\s*verstat=([A-Za-z-]{1,64})/i.exec(value)?.[1]).find(Boolean);
  const diversion = userOfHeader(headers.get('diversion') ?? '')?.slice(0, MAX_TEXT);
  const named = names.flatMap((name) => {
    const value = headers.get(name.toLowerCase())?.slice(0, MAX_TEXT);
    return value === undefined ? [] : [[name, value] as const];
  });
  const said = {
    ...(attestation && { attestation }),
    ...(verstat && { verstat }),
    ...(diversion && { diversion }),
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
  };
  return Object.keys(said).length > 0 ? said : undefined;
}
