/** A trunk that has left an INVITE without any answer for so long gets no other one: whom it is for may be reached, or never. */
const CLOSED_AFTER_MS = 2000;

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
      const [oldest] = waiting.get(trunkId)?.values() ?? [];
      return oldest !== undefined && now() - oldest >= CLOSED_AFTER_MS;
    },
  };
}
