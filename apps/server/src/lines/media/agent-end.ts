import type { AgentFailure } from './agent-failure.ts';

/** How an agent's part in a call ended, in the contract's words. */
export interface StreamEnd {
  reason:
    | AgentFailure['reason']
    | ('call_ended' | 'hung_up' | 'crashed' | 'mute' | 'silence' | 'frozen' | 'vanished' | 'too_large');
  /** Of its WebSocket. */
  closeCode?: number;
  /** What the close said, or what is known of why: as `cleanText` leaves it. */
  text?: string;
}

/** Closes that mean that the agent is done; 1005: it gave no code (RFC 6455, 7.4.1). */
const HANG_UPS = [1000, 1005];
const MAX_TEXT = 255;

/**
 * What the close of an open connection means.
 * @param said what the agent gave as its reason
 * @param fault what broke the connection, where something did
 */
export function endOfClose(closeCode: number, said: string, fault?: Error & { code?: string }): StreamEnd {
  if (fault?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    return { reason: 'too_large', closeCode: 1009, text: 'It sent a message that is too long.' };
  const reason = HANG_UPS.includes(closeCode) ? 'hung_up' : 'crashed';
  const text = said || fault?.message;
  return { reason, closeCode, ...(text && { text }) };
}

/**
 * A text that may be kept and shown: of one line and bounded, without the credentials of URLs, and without what is secret.
 * @param secrets such as the values of headers that were sent
 */
export function cleanText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, '…');
  return clean
    .replace(/\/\/[^\s/@]*@/g, '//')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();
}
