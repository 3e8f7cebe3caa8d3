import { callIdOf, createLadder, cseqOf, type Ladder, type LadderEntry } from '@trunkline/sip';
import type { Logger } from 'pino';

/** What the two sides of calls said, redacted, until it is kept. */
export interface CallMessages {
  /** To be given to the user agent. */
  onMessage: Ladder['onMessage'];
  /** A call is over: what was said is kept when its last answer has come too. */
  over(roomId: string, callId: string): void;
  /** Keeps what is not kept yet. */
  flush(): Promise<void>;
}

/** As many calls at a time; of a further one, who was silent longest is forgotten. */
const MAX_CALLS = 4000;
const MAX_MESSAGES = 60;
const MAX_TEXT = 8192;
const MAX_SUMMARY = 512;
const LAST_ANSWER_MS = 1000;
const apart = new Set(['REGISTER', 'OPTIONS']);

/** @param isPeer whether a trunk is at that address: what strangers send is nobody's call */
export function callMessages(options: {
  keep: (roomId: string, messages: LadderEntry[]) => Promise<void>;
  isPeer: (address: string) => boolean;
  log: Logger;
}): CallMessages {
  const { keep, isPeer, log } = options;
  const ladder = createLadder({ maxCalls: MAX_CALLS, maxMessages: MAX_MESSAGES });
  const waiting = new Map<string, { callId: string; timer: NodeJS.Timeout }>();

  async function keepNow(roomId: string): Promise<void> {
    const { callId, timer } = waiting.get(roomId)!;
    clearTimeout(timer);
    waiting.delete(roomId);
    const messages = ladder.of(callId);
    ladder.forget(callId);
    if (messages.length === 0) return;
    const bounded = messages.map((entry) => ({
      ...entry,
      summary: entry.summary.slice(0, MAX_SUMMARY),
      text: entry.text.slice(0, MAX_TEXT),
    }));
    await keep(roomId, bounded).catch((error) =>
      log.warn({ err: error, roomId }, 'the messages of a call could not be kept'),
    );
  }

  return {
    onMessage: (direction, message, flow) => {
      if (apart.has(cseqOf(message).method)) return;
      // Challenges go to strangers, of whom there may be many.
      const isChallenge = message.kind === 'response' && message.status === 401;
      const isOurs =
        (direction === 'sent' && !isChallenge) ||
        isPeer(flow.target.address) ||
        ladder.of(callIdOf(message)).length > 0;
      if (isOurs) ladder.onMessage(direction, message, flow);
    },
    over: (roomId, callId) => {
      if (waiting.has(roomId)) return;
      waiting.set(roomId, { callId, timer: setTimeout(() => void keepNow(roomId), LAST_ANSWER_MS) });
    },
    flush: async () => void (await Promise.all([...waiting.keys()].map(keepNow))),
  };
}
