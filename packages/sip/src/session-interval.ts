import type { SipRequest, SipResponse } from './message.ts';
import { parseParameters } from './syntax.ts';

/** Session timers (RFC 4028), as their headers agree on them. */

/** No session is refreshed more often (section 5). */
export const MIN_INTERVAL_SECONDS = 90;
/** A longer one is taken for a day. */
const MAX_INTERVAL_SECONDS = 86_400;

/** When a session ends unless it is refreshed, and who refreshes it. */
export interface SessionInterval {
  seconds: number;
  refresher: 'local' | 'remote';
}

interface SessionExpires {
  seconds: number;
  refresher?: 'uac' | 'uas';
}

function sessionExpiresOf(message: SipRequest | SipResponse): SessionExpires | undefined {
  const parts = /^(\d{1,9})\s*(?:;(.*))?$/.exec(message.headers.get('session-expires') ?? '');
  if (!parts) return undefined;
  const refresher = refresherOf(parts[2] ?? '');
  return { seconds: Math.min(Number(parts[1]), MAX_INTERVAL_SECONDS), ...(refresher && { refresher }) };
}

function refresherOf(parameters: string): 'uac' | 'uas' | undefined {
  try {
    const refresher = parseParameters(parameters).get('refresher')?.toLowerCase();
    return refresher === 'uac' || refresher === 'uas' ? refresher : undefined;
  } catch {
    return undefined;
  }
}

export const minSeOf = (message: SipRequest | SipResponse): number =>
  Number(/^\d{1,6}/.exec(message.headers.get('min-se') ?? '')?.[0] ?? 0);

/** Asks for an interval in a request of ours (section 7.1). */
export function askInterval(request: SipRequest, seconds: number, minSeconds: number, refresher?: 'uac' | 'uas'): void {
  request.headers.set(
    'session-expires',
    `${Math.max(seconds, minSeconds)}${refresher ? `;refresher=${refresher}` : ''}`,
  );
  if (minSeconds > MIN_INTERVAL_SECONDS) request.headers.set('min-se', String(minSeconds));
}

/**
 * What a 2xx to our request has settled on (section 7.2); undefined: the session doesn't expire. A peer that answers with less
 * than the least is held to that.
 */
export function intervalAnswered(response: SipResponse): SessionInterval | undefined {
  const settled = sessionExpiresOf(response);
  if (!settled) return undefined;
  const seconds = Math.max(settled.seconds, MIN_INTERVAL_SECONDS);
  return { seconds, refresher: settled.refresher === 'uas' ? 'remote' : 'local' };
}

/** What we settle on for a peer's request (section 9). */
export function intervalFor(request: SipRequest, ours: number): SessionInterval | 'too_small' | undefined {
  const asked = sessionExpiresOf(request);
  const isSupported = request.headers.tokens('supported').includes('timer');
  if (asked && isSupported && asked.seconds < MIN_INTERVAL_SECONDS) return 'too_small';
  if (ours === 0 && !asked) return undefined;
  const wanted = ours === 0 ? asked!.seconds : Math.min(asked?.seconds ?? ours, ours);
  const seconds = Math.max(wanted, minSeOf(request), MIN_INTERVAL_SECONDS);
  // Who doesn't know timers doesn't refresh either.
  return { seconds, refresher: isSupported && asked?.refresher !== 'uas' ? 'remote' : 'local' };
}

/** Writes what we settled on into our 2xx. */
export function answerInterval(response: SipResponse, interval: SessionInterval): void {
  const refresher = interval.refresher === 'remote' ? 'uac' : 'uas';
  response.headers.set('session-expires', `${interval.seconds};refresher=${refresher}`);
  if (refresher === 'uac') response.headers.add('require', 'timer');
}
