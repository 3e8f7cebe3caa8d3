import type { ModelUsage } from './realtime/speech-model.ts';

/** How an agent's part in a call ended, in the contract's words. */
export const agentEndReasons = [
  'call_ended',
  'hung_up',
  'address_refused',
  'dns_failure',
  'refused',
  'tls_failure',
  'timed_out',
  'rejected',
  'limit_reached',
  'crashed',
  'mute',
  'silence',
  'frozen',
  'vanished',
  'too_large',
  'media_lost',
] as const;
export type AgentEndReason = (typeof agentEndReasons)[number];

/** What the agent of a call did. Simulated calls have no agent, and none of this. */
export interface AgentEnd {
  reason: AgentEndReason;
  /** Of its WebSocket. */
  closeCode?: number;
  /** What the close said, or why there was no connection: 255 characters at most, none of them a control character, and no secret. */
  text?: string;
  /** Milliseconds from the answer to the first of its sound that the callee was played; absent if there was none. */
  firstSoundMs?: number;
  /** Milliseconds of its sound that nobody heard: beyond the limit, or still to be said when it was let go. */
  soundLeftOutMs: number;
  /** Frames of 20 ms of the callee that it was not given. */
  framesMissed: number;
  /** What its model had used by then. */
  usage?: ModelUsage;
}

/** What is known of the end of an agent's part by its stream. */
export interface StreamEnd {
  reason: Exclude<AgentEndReason, 'media_lost'>;
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

/** So much of a text is looked at: a message may have 4 MB, and nothing else runs meanwhile. */
const MOST_READ = 16_384;

/** What others make of a key that they were sent: `sk-proj-ab*****xyz`. Looked for once a word, not from each of its letters. */
const MASKED = /((?<![\w-])[\w-]*|)(?:[*•…]+|\.{3,})([\w-]*)/g;
/** Letters of a secret that are nobody's business. */
const MOST_SHOWN = 3;

const isPartOf = (secret: string, begin: string, end: string): boolean =>
  begin.length + end.length > MOST_SHOWN && secret.startsWith(begin) && secret.endsWith(end);

/**
 * A text that may be kept and shown: of one line and bounded, without the credentials of URLs, and without what is secret.
 * @param secrets such as the values of headers that were sent
 */
export function cleanText(text: string, secrets: readonly string[]): string {
  let clean = text.slice(0, MOST_READ);
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, '…');
  return clean
    .replace(MASKED, (all, begin: string, end: string) =>
      secrets.some((secret) => isPartOf(secret, begin, end)) ? '…' : all,
    )
    .replace(/\/\/[^\s/@]*@/g, '//')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .replace(/\p{Cs}/gu, '');
}
