import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import { writtenName } from './headers.ts';
import { callIdOf, type SipMessage } from './message.ts';
import type { Flow, TransportName } from './transport.ts';
import { firstLine } from './write-message.ts';

/** One message of a call, as people may see it. */
export interface LadderEntry {
  /** Milliseconds since 1970. */
  at: number;
  direction: 'sent' | 'received';
  transport: TransportName;
  /** The peer's address and port. */
  peer: string;
  /** The first line. */
  summary: string;
  /** The whole message, redacted. */
  text: string;
}

/** What calls said lately. */
export interface Ladder {
  /** To be given to a user agent. */
  onMessage(direction: 'sent' | 'received', message: SipMessage, flow: Flow): void;
  /** A call's messages in their order. */
  of(callId: string): LadderEntry[];
  forget(callId: string): void;
}

const MAX_CALLS = 1000;
const MAX_MESSAGES = 60;

/** Keeps the first and last messages of the calls that spoke last, redacted. Of a call's many messages the middle is left out. */
export function createLadder({
  maxCalls = MAX_CALLS,
  maxMessages = MAX_MESSAGES,
  clock = systemClock as Clock,
} = {}): Ladder {
  const calls = new Map<string, LadderEntry[]>();
  return {
    onMessage(direction, message, { target }) {
      const callId = callIdOf(message);
      const entries = calls.get(callId) ?? [];
      calls.delete(callId);
      if (calls.size >= maxCalls) calls.delete(calls.keys().next().value!);
      calls.set(callId, entries);
      if (entries.length >= maxMessages) entries.splice(Math.floor(maxMessages / 2), 1);
      const peer = `${target.address}:${target.port}`;
      entries.push({
        at: clock.now(),
        direction,
        transport: target.transport,
        peer,
        summary: firstLine(message),
        text: redacted(message),
      });
    },
    of: (callId) => [...(calls.get(callId) ?? [])],
    forget: (callId) => void calls.delete(callId),
  };
}

const secret = new Set(['authorization', 'proxy-authorization', 'www-authenticate', 'proxy-authenticate']);

/** A message without what nobody needs to see: answers to challenges, keys of SRTP, and digits that were pressed. */
export function redacted(message: SipMessage): string {
  const lines = [...message.headers].map(
    ([name, value]) => `${writtenName(name)}: ${secret.has(name) ? '(hidden)' : value}`,
  );
  return [firstLine(message), ...lines, '', bodyOf(message)].join('\r\n');
}

function bodyOf(message: SipMessage): string {
  if (message.body === '') return '';
  const type = message.headers.get('content-type') ?? '';
  if (!/^application\/sdp/i.test(type)) return `(${Buffer.byteLength(message.body)} bytes)`;
  return message.body
    .replace(/^(a=crypto:\s*\S+\s+\S+\s).*$/gim, '$1(hidden)')
    .replace(/^(a=key-mgmt):.*$/gim, '$1:(hidden)')
    .replace(/^(k=\w+):.*$/gm, '$1:(hidden)');
}
