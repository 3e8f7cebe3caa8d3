import { coalesce } from '../../../foundation/values/coalesce.ts';
import type { StoredCall, StoredEnd } from './progress.ts';
import type { SimulatorStore } from './store.ts';
import type { SimulatorTime } from './time.ts';

/**
 * How long a call may be on its way, in milliseconds. A process that was frozen meanwhile must not place it any more: it
 * may have been looked up, found absent and placed by another.
 */
const LATEST_MS = 2_000;
/** The most rows of one statement. */
const MOST_AT_ONCE = 1_000;
/** How long calls are gathered where the set before took long to write, in milliseconds. */
const MOST_GATHER_MS = 100;

/**
 * The store's calls one by one, in statements for what is asked at once: `insert` and `end` say whether theirs was the
 * first of its room.
 */
export function gatherStatements(store: SimulatorStore, time: SimulatorTime) {
  const insert = coalesce(
    async (calls: StoredCall[]) => {
      const rooms = new Map<string, StoredCall>();
      for (const call of calls) {
        const twin = rooms.get(call.roomId);
        rooms.set(call.roomId, twin ? { ...twin, placements: twin.placements + 1 } : call);
      }
      const oldest = Math.min(...calls.map(({ placedAt }) => placedAt.getTime()));
      const added = await store.insert([...rooms.values()], () => time.now().getTime() > oldest + LATEST_MS);
      // The first of two equal rooms is the new one.
      return calls.map(({ roomId }) => added.delete(roomId));
    },
    { atMost: MOST_AT_ONCE, mostMs: MOST_GATHER_MS },
  );
  const find = coalesce(
    async (roomIds: string[]) => {
      const calls = await store.find([...new Set(roomIds)]);
      return roomIds.map((roomId) => calls.get(roomId));
    },
    { atMost: MOST_AT_ONCE },
  );
  const end = coalesce(
    async (ends: ({ roomId: string } & StoredEnd)[]) => {
      const rooms = new Map(ends.map((one) => [one.roomId, one]));
      const ended = await store.end([...rooms.values()]);
      return ends.map(({ roomId }) => ended.delete(roomId));
    },
    { atMost: MOST_AT_ONCE, mostMs: MOST_GATHER_MS },
  );
  return { insert, find, end, idle: () => Promise.all([insert.idle(), find.idle(), end.idle()]) };
}

export type GatheredStore = ReturnType<typeof gatherStatements>;
