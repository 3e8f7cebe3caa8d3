import type { CallEvent } from '../call-gateway.ts';
import type { StoredCall } from './progress.ts';
import type { SimulatorTime } from './time.ts';
import { createTimeline } from './timeline.ts';

/** The calls whose events come to this process. Closed at first: it follows none. */
export interface FollowedCalls {
  /** Has a call's events from now on come to this process; those before `since` are known. */
  follow(call: StoredCall, since?: Date): void;
  unfollow(roomId: string): void;
  get(roomId: string): StoredCall | undefined;
  count(): number;
  open(): void;
  /** Forgets all. */
  close(): void;
}

interface FollowedCall {
  call: StoredCall;
  /** What is still to come, from `next` on. */
  events: CallEvent[];
  next: number;
}

/**
 * @param eventsOf every event that a call will have, in order
 * @param deliver is given what has happened, in order
 */
export function createFollowedCalls(
  time: SimulatorTime,
  eventsOf: (call: StoredCall) => CallEvent[],
  deliver: (events: CallEvent[]) => void,
): FollowedCalls {
  const followed = new Map<string, FollowedCall>();
  let isOpen = false;
  const timeline = createTimeline<FollowedCall>(time, (due) => {
    const now = time.now();
    const happened: CallEvent[] = [];
    for (const one of due) {
      const { roomId } = one.call;
      if (followed.get(roomId) !== one) continue;
      for (let event = one.events[one.next]; event && event.at <= now; event = one.events[one.next]) {
        happened.push(event);
        one.next += 1;
      }
      const next = one.events[one.next];
      if (next) timeline.add(next.at.getTime(), one);
      else followed.delete(roomId);
    }
    deliver(happened);
  });
  return {
    follow(call, since) {
      if (!isOpen || followed.has(call.roomId)) return;
      const all = eventsOf(call);
      const events = since ? all.filter(({ at }) => at > since) : all;
      const first = events[0];
      if (!first) return;
      const one = { call, events, next: 0 };
      followed.set(call.roomId, one);
      timeline.add(first.at.getTime(), one);
    },
    unfollow: (roomId) => void followed.delete(roomId),
    get: (roomId) => followed.get(roomId)?.call,
    count: () => followed.size,
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      timeline.clear();
      followed.clear();
    },
  };
}
