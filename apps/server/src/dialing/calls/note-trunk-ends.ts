import { sql } from 'kysely';
import { forWorkspace, type Tx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { recordTurned } from '../../lines/phone-numbers/record-number.ts';
import { afterCalls, isNews, type SetAside, type TrunkEnd, type TrunkNext } from '../../lines/trunks/after-calls.ts';
import { pauseLocked } from '../../lines/trunks/pause-trunk.ts';
import { lockTrunk, recordTrunk } from '../../lines/trunks/store.ts';
import type { CallKey } from './call.ts';

/** The end of a call that was placed over a trunk. */
export interface EndOverTrunk extends TrunkEnd, CallKey {
  trunkId: string;
  phoneNumberId: string;
  endedAt: Date;
}

/** The calls that are not held against their contacts: those that end now, and those that have ended before. */
export interface SetAsideCalls {
  now: ReadonlyMap<string, SetAside>;
  before: CallKey[];
}

type HealthRow = Row<'trunk_health'> & { paused_for: string | null };

/**
 * Notes on trunks how calls over them have ended, and pauses those that should call no more, with the events of that. The
 * calls' rows are locked before. A trunk whose calls end as usual is not touched.
 */
export async function noteTrunkEnds(tx: Tx, ends: readonly EndOverTrunk[], now: Date): Promise<SetAsideCalls> {
  const found: { now: Map<string, SetAside>; before: CallKey[] } = { now: new Map(), before: [] };
  if (ends.length === 0) return found;
  const ids = [...new Set(ends.map((end) => end.trunkId))].sort();
  const endsOf = (id: string) => ends.filter((end) => end.trunkId === id);
  const news = new Set(ends.filter(isNews).map((end) => end.trunkId));
  const { rows } = await sql<HealthRow>`
    select h.* from unnest(${ids.map((id) => endsOf(id)[0]!.workspaceId)}::uuid[], ${ids}::uuid[],
      ${ids.map((id) => news.has(id))}::boolean[]) as x (workspace_id, id, is_news)
    cross join lateral (
      select h.*, (select reason from trunks where workspace_id = x.workspace_id and id = x.id) as paused_for
      from trunk_health h where h.workspace_id = x.workspace_id and h.trunk_id = x.id
        and (x.is_news or h.full_answers > 0 or h.slowed_until is not null or h.unanswered_invites > 0 or h.unknown_calls <> '{}' or h.silent_calls <> '{}')
      limit 1 for no key update) as h`.execute(tx.db);
  for (const row of rows) {
    const own = endsOf(row.trunk_id).toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
    const next = afterCalls(healthOf(row), own, row.paused_for, now);
    await keepHealth(tx, row, next);
    if (next.pause) await pause(tx, own.find((end) => end.roomId === next.pause!.end.roomId)!, next.pause, now);
    const ending = new Set(own.map((end) => end.roomId));
    for (const [roomId, why] of next.setAside) {
      if (ending.has(roomId)) found.now.set(roomId, why);
      else found.before.push({ workspaceId: row.workspace_id, roomId });
    }
  }
  return found;
}

const healthOf = (row: HealthRow) => ({
  unknownCalls: row.unknown_calls,
  silentCalls: row.silent_calls,
  fullAnswers: row.full_answers,
  unansweredInvites: row.unanswered_invites,
  slowedSince: row.slowed_since,
  slowedUntil: row.slowed_until,
});

async function keepHealth(tx: Tx, { workspace_id, trunk_id }: HealthRow, { health }: TrunkNext): Promise<void> {
  await sql`
    update trunk_health set unknown_calls = ${health.unknownCalls}::uuid[], silent_calls = ${health.silentCalls}::uuid[],
      full_answers = ${health.fullAnswers}, unanswered_invites = ${health.unansweredInvites}, slowed_since = ${health.slowedSince}, slowed_until = ${health.slowedUntil}
    where workspace_id = ${workspace_id} and trunk_id = ${trunk_id}`.execute(tx.db);
}

/** Rare: it locks the trunk after calls, against the order of claims, which PostgreSQL settles where it must. */
async function pause(
  engine: Tx,
  end: EndOverTrunk,
  { reason }: NonNullable<TrunkNext['pause']>,
  now: Date,
): Promise<void> {
  const tx = forWorkspace(engine, end.workspaceId);
  const row = await lockTrunk(tx, end.trunkId);
  if (!row) return;
  const { rows } = await sql<{ pool_id: string | null }>`
    select pool_id from number_usage
    where workspace_id = ${end.workspaceId} and phone_number_id = ${end.phoneNumberId}`.execute(tx.db);
  const message = reason === 'forbidden' ? (end.sipReason ?? null) : null;
  await pauseLocked(tx, row, { reason, message, numberId: end.phoneNumberId, poolId: rows[0]?.pool_id ?? null }, now);
  await recordTrunk(tx, row.id, now);
  if (row.status === 'active') await recordTurned(tx, row.id, now);
}
