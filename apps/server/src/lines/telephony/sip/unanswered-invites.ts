/** A trunk that has left an INVITE without any answer for so long gets no other one: whom it is for may be reached, or never. */
const CLOSED_AFTER_MS = 2000;
/** Every INVITE is over by then (RFC 3261 section 17.1.1.2, timer B, and some more): what is still here keeps nothing closed. */
const FORGOTTEN_AFTER_MS = 40_000;

/** The INVITEs of this process that have got no answer yet, not even a 100. */
export interface UnansweredInvites {
  /** An INVITE has left. */
  sent(trunkId: string, roomId: string): void;
  /** It was answered, or is over. */
  over(trunkId: string, roomId: string): void;
  /** Whether nothing is to be sent over a trunk until it answers. */
  isClosed(trunkId: string): boolean;
}

/** @param now milliseconds of a clock that only goes forward */
export function createUnansweredInvites(now: () => number = () => performance.now()): UnansweredInvites {
  /** When each left, in that order, by trunk. */
  const waiting = new Map<string, Map<string, number>>();
  return {
    sent: (trunkId, roomId) => {
      const own = waiting.get(trunkId) ?? new Map<string, number>();
      waiting.set(trunkId, own.set(roomId, now()));
    },
    over: (trunkId, roomId) => {
      const own = waiting.get(trunkId);
      if (own?.delete(roomId) && own.size === 0) waiting.delete(trunkId);
    },
    isClosed: (trunkId) => {
      const own = waiting.get(trunkId);
      for (const [roomId, at] of own ?? []) {
        if (now() - at < FORGOTTEN_AFTER_MS) return now() - at >= CLOSED_AFTER_MS;
        own!.delete(roomId);
      }
      return false;
    },
  };
}
