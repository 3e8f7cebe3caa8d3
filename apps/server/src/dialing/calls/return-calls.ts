import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { type Clock, utcDay } from '../../foundation/values/clock.ts';
import { uncountUses } from '../../lines/number-pools/count-uses.ts';
import { callTransitions, type EndedCall, type HeldCall, type ReturnedCall } from './call.ts';
import type { CallOwners } from './call-owner.ts';
import { keysOf, type OwnedRow, ownedColumns, toOwned } from './call-row.ts';

interface ReturningServer {
  serverId: string;
  owners: Pick<CallOwners, 'isPlacedAgain' | 'lock' | 'onCallsEnded' | 'onCallsReturned'>;
  now: Date;
}

type ReturnedRow = OwnedRow & Pick<Row<'calls'>, 'queued_at'>;

const returned = (row: ReturnedRow, attemptTakenBack: boolean): ReturnedCall => ({
  ...toOwned(row),
  attemptTakenBack,
  queuedAt: row.queued_at,
});

/**
 * Takes back those of some calls that are still `queued`: they disappear with their attempts, and their contacts can be
 * called. A call that another server has taken over is left alone.
 */
export async function returnQueuedCalls(database: Database, calls: HeldCall[], server: ReturningServer): Promise<void> {
  if (calls.length === 0) return;
  await database.inHotLoop(async (tx) => {
    await server.owners.lock(tx, calls);
    const queued = await deleteQueued(tx, calls, server.serverId);
    await server.owners.onCallsReturned(tx, queued, server.now);
    await giveBackUsage(tx, queued);
  });
}

async function deleteQueued(tx: EngineTx, calls: HeldCall[], serverId: string): Promise<ReturnedCall[]> {
  const { rows } = await sql<ReturnedRow & { phone_number_id: string; pooled: boolean }>`
    delete from calls c using ${keysOf(calls)}
    where c.workspace_id = x.workspace_id and c.id = x.id and c.status = 'queued' and c.server_id = ${serverId}
    returning ${ownedColumns}, c.queued_at, c.phone_number_id, c.pooled`.execute(tx.db);
  await uncountUses(
    tx,
    rows.filter((row) => row.pooled),
  );
  return rows.map((row) => returned(row, true));
}

/** What was taken back doesn't count on the day on which it was claimed. */
async function giveBackUsage(tx: EngineTx, calls: ReturnedCall[]): Promise<void> {
  if (calls.length === 0) return;
  await sql`
    update workspace_usage u set calls = greatest(0, u.calls - x.calls)
    from (select workspace_id, day, count(*) as calls
      from unnest(${calls.map((call) => call.workspaceId)}::uuid[],
        ${calls.map((call) => utcDay(call.queuedAt))}::date[]) as k (workspace_id, day)
      group by workspace_id, day) as x
    where u.workspace_id = x.workspace_id and u.day = x.day`.execute(tx.db);
}

/**
 * Takes back calls that the provider surely doesn't know, so that their contacts can be called: beside those still
 * `queued` the ones that were `dialing`, which stay as `cancelled`, unless their owner has them placed again under their IDs. One that someone has asked to end has ended with
 * that; one that has rung, and that the provider has forgotten, ends as `unknown`. A call that another server has taken
 * over is left alone.
 */
export async function returnCalls(database: Database, calls: HeldCall[], server: ReturningServer): Promise<void> {
  if (calls.length === 0) return;
  const { owners, serverId, now } = server;
  await database.inEngine(async (tx) => {
    await owners.lock(tx, calls);
    const queued = await deleteQueued(tx, calls, serverId);
    const again = await sql<ReturnedRow>`
      delete from calls c using ${keysOf(calls)}
      where c.workspace_id = x.workspace_id and c.id = x.id and c.server_id = ${serverId} and c.status = 'dialing'
        and c.end_requested_at is null and ${owners.isPlacedAgain}
      returning ${ownedColumns}, c.queued_at`.execute(tx.db);
    const dialing = await sql<ReturnedRow & { end_requested: boolean }>`
      update calls c set status = 'cancelled', outcome = 'cancelled', ended_at = ${now},
        ended_by = case when c.end_requested_at is null then 'error' else 'service' end
      from ${keysOf(calls)}
      where c.workspace_id = x.workspace_id and c.id = x.id and c.server_id = ${serverId}
        and c.status in ${from(callTransitions, 'cancelled', 'dialing')}
      returning ${ownedColumns}, c.queued_at, c.end_requested_at is not null as end_requested`.execute(tx.db);
    const forgotten = await sql<OwnedRow>`
      update calls c set status = 'failed', outcome = 'unknown', ended_by = 'error', ended_at = ${now}
      from ${keysOf(calls)}
      where c.workspace_id = x.workspace_id and c.id = x.id and c.server_id = ${serverId}
        and c.status in ${from(callTransitions, 'failed', 'ringing', 'in_progress')}
      returning ${ownedColumns}`.execute(tx.db);
    const unplaced = dialing.rows.filter((row) => !row.end_requested);
    const cancelled = dialing.rows.filter((row) => row.end_requested);
    const started = [
      ...again.rows.map((row) => ({ ...returned(row, false), isPlacedAgain: true as const })),
      ...unplaced.map((row) => returned(row, false)),
    ];
    await owners.onCallsReturned(tx, [...queued, ...started], now);
    await giveBackUsage(tx, queued);
    const ended = (outcome: EndedCall['outcome']) => (row: OwnedRow) => ({ ...toOwned(row), outcome, endedAt: now });
    await owners.onCallsEnded(tx, [...cancelled.map(ended('cancelled')), ...forgotten.rows.map(ended('unknown'))], now);
  });
}

/** Gives back calls that no provider has heard of. What can't be given back now is looked up, and given back then. */
export const callReturner =
  (options: {
    database: Database;
    lease: Pick<Lease, 'serverId'>;
    clock: Clock;
    log: Logger;
    owners: CallOwners;
    mayJudge: () => Promise<boolean>;
    /** Has the calls held no more, or looked up until the provider can say what became of them. */
    release: (calls: HeldCall[]) => void;
    watch: (calls: HeldCall[]) => void;
    onReturned: (count: number) => void;
  }) =>
  async (calls: HeldCall[], giveBackCalls = returnCalls): Promise<void> => {
    const { database, lease, clock, log, owners, mayJudge, release, watch, onReturned } = options;
    release(calls);
    try {
      if (!(await mayJudge())) return watch(calls);
      await giveBackCalls(database, calls, { owners, serverId: lease.serverId(), now: clock.now() });
      onReturned(calls.length);
    } catch (error) {
      log.error({ err: error, calls: calls.length }, 'calls could not be given back; it is tried again');
      watch(calls);
    }
  };
