import { type RawBuilder, sql } from 'kysely';
import { MAX, NIL } from 'uuid';
import type { EngineTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { DueTime } from '../../platform/jobs/quiet.ts';
import { blockedWorkspaces } from '../../platform/workspace/blocked-workspaces.ts';
import { intentWaitsForRoom } from '../../platform/workspace/limits.ts';
import type { RecordCallEvents } from '../calls/call-events.ts';
import { giveUpIntents } from './give-up.ts';
import type { IntentKey } from './intent.ts';

/** The most intents of a workspace that one look takes up: the others' turn comes before its next ones. */
export const TURN_SIZE = 10;
/** The most intents that one look gives up. */
const EXPIRED_SIZE = 100;
/** The most intents of a workspace that are woken because something has changed. */
const MOST_WOKEN = 1000;

/** When the first intent is due. */
export const firstDue: DueTime = sql`
  select next_attempt_at from call_intents where next_attempt_at is not null order by next_attempt_at limit 1`;

/** When the first is given up; while one is blocked, what it waits for may come at any time. */
export const firstToWakeOrGiveUp: DueTime = sql`least(
  (select expires_at from call_intents where next_attempt_at is not null order by expires_at limit 1),
  (select 'epoch'::timestamptz from call_intents where next_attempt_at is not null and looked_at is not null limit 1))`;

/**
 * The intents whose time has come, by workspace: of each the few that have waited longest, so that none holds up another's.
 * It goes from one workspace to the next at the head of an index, and where none is due it stops at the first look.
 */
export async function dueIntents(tx: EngineTx, now: Date): Promise<IntentKey[][]> {
  const next = (after: RawBuilder<unknown>) => sql`
    select workspace_id from call_intents
    where next_attempt_at is not null and workspace_id > ${after} and workspace_id <= ${MAX}
    order by workspace_id limit 1`;
  const { rows } = await sql<{ workspace_id: string; id: string }>`
    with recursive waiting (workspace_id) as (
      select (${next(sql`${NIL}`)}) where exists (select from call_intents where next_attempt_at <= ${now})
      union all select (${next(sql`w.workspace_id`)}) from waiting w where w.workspace_id is not null)
    select w.workspace_id, d.id from waiting w cross join lateral (
      select id from call_intents where workspace_id = w.workspace_id and next_attempt_at <= ${now}
      order by next_attempt_at limit ${sql.lit(TURN_SIZE)}) as d
    where w.workspace_id is not null`.execute(tx.db);
  const byWorkspace = new Map<string, IntentKey[]>();
  for (const { workspace_id: workspaceId, id: roomId } of rows) {
    byWorkspace.set(workspaceId, [...(byWorkspace.get(workspaceId) ?? []), { workspaceId, roomId }]);
  }
  return [...byWorkspace.values()];
}

/**
 * Has intents looked at again at once where their workspace, or a number or pool of it, has changed since they were looked
 * at last, and where it has room for their calls, as runs are. Answers how many.
 */
export async function wakeBlocked(tx: EngineTx, now: Date): Promise<number> {
  const workspaces = await blockedWorkspaces(
    tx,
    sql`call_intents`,
    sql`next_attempt_at is not null and looked_at is not null`,
  );
  const wake = (workspaceId: string, which: RawBuilder<unknown>) => sql`
    update call_intents i set next_attempt_at = ${now}, looked_at = null
    from (select ctid from call_intents
      where workspace_id = ${workspaceId} and next_attempt_at is not null and ${which} for no key update skip locked) as b
    where i.ctid = b.ctid`;
  const woken = await together(
    tx,
    workspaces.flatMap(({ workspaceId, changedAt, room }) => [
      wake(workspaceId, sql`looked_at < ${changedAt} order by looked_at limit ${sql.lit(MOST_WOKEN)}`),
      ...(room > 0
        ? [
            wake(
              workspaceId,
              sql`${intentWaitsForRoom(now)} and next_attempt_at > ${now} order by next_attempt_at limit ${room}`,
            ),
          ]
        : []),
    ]),
  );
  return woken.reduce((found, { numAffectedRows = 0n }) => found + Number(numAffectedRows), 0);
}

/** Gives up intents that could not be placed in time. Answers whether there may be more. */
export async function expireIntents(tx: EngineTx, now: Date, recordEvents: RecordCallEvents): Promise<boolean> {
  const places = sql`
    select ctid from call_intents where next_attempt_at is not null and expires_at <= ${now}
    order by expires_at limit ${sql.lit(EXPIRED_SIZE)} for update skip locked`;
  const reason = sql`case when reason is null or reason = 'scheduled' then 'expired' else reason end`;
  const expired = { status: 'cancelled', outcome: 'cancelled', reason } as const;
  return (await giveUpIntents(tx, places, expired, now, recordEvents)).length === EXPIRED_SIZE;
}
