import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';

/**
 * How late a call with a pace may be placed, in milliseconds. Starts stand apart by as much more (dialing.md,
 * "Claims").
 */
export const PACE_SLACK_MS = 50;

/** How far apart calls start, in milliseconds, so that no second ever holds more of them than the rate. */
export const apartAt = (callsPerSecond: number): number =>
  (1000 + PACE_SLACK_MS) / Math.min(callsPerSecond, Math.max(1, Math.floor(callsPerSecond)));

/** What a trunk that is held by a transaction has left for calls. */
export interface TrunkRoom {
  /** UUID. */
  id: string;
  isActive: boolean;
  /** How many more calls may be up. */
  channels: number;
  /** Milliseconds between two starts. */
  apartMs: number;
  /** Its next free slot; moved on by who takes it, and written by `moveStarts`. */
  nextStartAt: Date;
}

interface Row {
  id: string;
  status: 'active' | 'paused';
  max_channels: number | null;
  calls_per_second: number;
  next_start_at: Date;
}

/**
 * Locks trunks, in the order of their IDs, and reads what they have left: neither changes until the transaction ends,
 * since all who place calls over a trunk hold it first (dialing.md, "Locks"). Calls that are up are counted by an index
 * of theirs, at most as many as the trunk may have. 5 buffers a trunk, and one or two for each call that is up.
 * @param waits whether it waits for those that others hold; without it they are left out
 */
export async function lockTrunkRooms(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
  waits = true,
): Promise<TrunkRoom[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Row>`
    select t.* from unnest(${ids.toSorted()}::uuid[]) as x (id)
    cross join lateral (select id, status, max_channels, calls_per_second, next_start_at from trunks
      where workspace_id = ${workspaceId} and id = x.id limit 1
      for no key update ${sql.raw(waits ? '' : 'skip locked')}) as t`.execute(tx.db);
  // After the lock: what was counted together with it would be older.
  const counted = await sql<{ id: string; live: number; slowed_until: Date | null }>`
    select x.id, h.slowed_until, k.live from unnest(${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.max_channels !== null)}::boolean[]) as x (id, is_limited)
    cross join lateral (select slowed_until from trunk_health
      where workspace_id = ${workspaceId} and trunk_id = x.id limit 1) as h
    cross join lateral (select count(*) as live from calls
      where x.is_limited and trunk_id = x.id and ended_at is null offset 0) as k`.execute(tx.db);
  const used = new Map(counted.rows.map((row) => [row.id, row]));
  return rows.map((row) => {
    const { live = 0, slowed_until = null } = used.get(row.id) ?? {};
    return {
      id: row.id,
      isActive: row.status === 'active',
      channels: Math.max(0, (row.max_channels ?? Number.POSITIVE_INFINITY) - live),
      apartMs: apartAt(row.calls_per_second),
      nextStartAt: slowed_until && slowed_until > row.next_start_at ? slowed_until : row.next_start_at,
    };
  });
}

/** How many calls can start over a trunk between two times. */
export function startsWithin({ isActive, channels, apartMs, nextStartAt }: TrunkRoom, first: Date, last: Date): number {
  if (!isActive) return 0;
  const from = Math.max(first.getTime(), nextStartAt.getTime());
  return Math.min(channels, from > last.getTime() ? 0 : Math.floor((last.getTime() - from) / apartMs) + 1);
}

/**
 * Takes the next slot of a trunk, at a time at the earliest.
 * @param slackMs how late the call may be placed, in milliseconds; the next one starts so much later
 */
export function takeStart(room: TrunkRoom, earliest: Date, slackMs = PACE_SLACK_MS): Date {
  const at = new Date(Math.ceil(Math.max(earliest.getTime(), room.nextStartAt.getTime())));
  room.channels -= 1;
  room.nextStartAt = new Date(Math.ceil(at.getTime() + room.apartMs + slackMs - PACE_SLACK_MS));
  return at;
}

/** Writes the next free slots of trunks that the transaction holds: 4 buffers a trunk. */
export async function moveStarts(tx: Tx, workspaceId: string, rooms: readonly TrunkRoom[]): Promise<void> {
  if (rooms.length === 0) return;
  await sql`
    update trunks t set next_start_at = x.next_start_at
    from unnest(${rooms.map(({ id }) => id)}::uuid[], ${rooms.map(({ nextStartAt }) => nextStartAt)}::timestamptz[])
      as x (id, next_start_at)
    where t.workspace_id = ${workspaceId} and t.id = x.id`.execute(tx.db);
}
