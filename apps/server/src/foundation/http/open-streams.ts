import type { Registry } from 'prom-client';
import { measureSlots } from '../observe/slot-metrics.ts';
import { limiter } from '../values/limiter.ts';
import { ServiceError } from '../values/service-error.ts';
import type { Principal } from './principal.ts';

/** The event streams that a process keeps open. */
export interface OpenStreams {
  total: number;
  underWay(): number;
  /**
   * Counts a stream of a key, until what it answers with is called.
   * @throws `rate_limited` where the key or its workspace has its share, `unavailable` where the process has no room
   */
  enter(principal: Pick<Principal, 'keyId' | 'workspaceId'>): () => void;
  /** Does what opens a stream once the workspace has its turn: thousands that are opened at once hold up no other. */
  inTurn<T>(workspaceId: string, open: () => Promise<T>): Promise<T>;
}

/** Each costs some 25 kB. One workspace alone has half of them, and one key of it a third. */
const MOST_STREAMS = 15_000;
/** So many are opened at a time, half of them of one workspace alone. */
const OPENED_AT_ONCE = 4;
const AGAIN_SECONDS = '5';

/**
 * A workspace opens a stream only while it holds fewer than are free, and a key only while it holds fewer than its workspace
 * may still open.
 */
export function createOpenStreams(registry: Registry, total = MOST_STREAMS): OpenStreams {
  const held = new Map<string, number>();
  let open = 0;
  const heldBy = (holder: string) => held.get(holder) ?? 0;
  const count = (holder: string, streams: number) => {
    const now = heldBy(holder) + streams;
    if (now > 0) held.set(holder, now);
    else held.delete(holder);
  };
  const change = (workspaceId: string, keyId: string, by: number) => {
    open += by;
    count(workspaceId, by);
    count(keyId, by);
  };
  const opening = limiter(OPENED_AT_ONCE);
  const streams: OpenStreams = {
    total,
    underWay: () => open,
    enter: ({ keyId, workspaceId }) => {
      const own = heldBy(workspaceId);
      const free = total - open;
      if (heldBy(keyId) >= free - own) throw own === 0 ? full() : tooMany(heldBy(keyId) > 0);
      change(workspaceId, keyId, 1);
      return () => change(workspaceId, keyId, -1);
    },
    // Nothing that waits is dropped, so each comes to something.
    inTurn: async (workspaceId, open) => (await opening(workspaceId, open))!,
  };
  measureSlots(registry, 'event_streams', streams);
  measureSlots(registry, 'event_stream_openings', opening);
  return streams;
}

const options = { headers: { 'Retry-After': AGAIN_SECONDS } };
const full = () => new ServiceError('unavailable', 'The server has no room for more streams now.', options);
const tooMany = (byKey: boolean) =>
  new ServiceError(
    'rate_limited',
    `${byKey ? 'This key or member' : 'This workspace'} has as many streams open as it can have now. Close one first.`,
    options,
  );
