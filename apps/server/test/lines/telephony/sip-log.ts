import type { LoggedMessage } from '../../../../../packages/sip/test/peers/sipp.ts';

/** The messages of calls by Call-ID, without probes. */
export function byCall(messages: LoggedMessage[]): Map<string, LoggedMessage[]> {
  const calls = new Map<string, LoggedMessage[]>();
  for (const message of messages) {
    if (message.start.startsWith('INVITE') && !calls.has(message.callId)) calls.set(message.callId, []);
    calls.get(message.callId)?.push(message);
  }
  return calls;
}

/** The user that a call was to. */
export const dialled = ([invite]: LoggedMessage[]) => /^INVITE sip:([^@]*)@/.exec(invite!.start)?.[1];
export const isBye = ({ start }: LoggedMessage) => start.startsWith('BYE');

const isFinal = ({ start, cseq }: LoggedMessage) => /^SIP\/2.0 [2-6]/.test(start) && cseq.endsWith('INVITE');
const statusOf = ({ start }: LoggedMessage) => start.split(' ')[1]!;

/** The final answers to an INVITE, each once. */
export const answersOf = (messages: LoggedMessage[]) => [...new Set(messages.filter(isFinal).map(statusOf))];

/** A call ends with a refusal, or with a BYE. */
const isEnd = (message: LoggedMessage) => isBye(message) || (isFinal(message) && statusOf(message) !== '200');

/** How many calls are up by what was said. */
export const liveIn = (messages: LoggedMessage[]) =>
  [...byCall(messages).values()].filter((call) => !call.some(isEnd)).length;
