import { sql } from 'kysely';
import type { EngineTx } from '../../database/database.ts';
import { together } from '../../database/together.ts';
import type { Signal } from './advance-run.ts';
import type { RunRow } from './run.ts';
import { whereRunIs } from './run-by-key.ts';

/** A run that this server now holds, with what it has waited for where that has come. */
export interface ClaimedRun {
  run: RunRow;
  signal?: Signal;
}

/**
 * Takes runs for a server, at most `most` of each kind: those that are due, longest due first, and those whose signal
 * has come. Two statements each, so that only the head of an index is read, however many runs sleep (engine.md, "Claims").
 * To take 100 touches 1,760 buffers beside 10⁴ runs, 2,220 beside 10⁶.
 */
export async function claimRuns(tx: EngineTx, serverId: string, most: number, now: Date): Promise<ClaimedRun[]> {
  const [due, told] = await together(tx, [() => dueRuns(tx, most, now), () => toldRuns(tx, most)]);
  const signals = new Map(told.map(({ id, signal }) => [id, signal]));
  const runs = new Map([...due, ...told.map(({ signal, ...run }) => run)].map((run) => [run.id, run]));
  if (runs.size === 0) return [];
  const ctids = [...runs.values()].map(({ ctid }) => ctid);
  await sql`
    update workflow_runs set server_id = ${serverId}, due_at = null where ctid = any(${ctids}::tid[])`.execute(tx.db);
  return [...runs.values()].map(({ ctid, ...run }) => {
    const signal = signals.get(run.id);
    return { run: { ...run, server_id: serverId, due_at: null }, ...(signal && { signal }) };
  });
}

/** A run's row, and where it lies as long as it is locked. */
type LockedRow = RunRow & { ctid: string };

/** 120 buffers for 100 runs, beside 10⁴ as beside 10⁶. */
async function dueRuns(tx: EngineTx, most: number, now: Date): Promise<LockedRow[]> {
  const { rows } = await sql<LockedRow>`
    select *, ctid from workflow_runs where due_at <= ${now} and server_id is null
    order by due_at limit ${most} for no key update skip locked`.execute(tx.db);
  return rows;
}

/** How many of the oldest signals a claim looks at: more than a few servers hold runs whose signal isn't deleted yet. */
const MOST_SIGNALS = 1000;

/**
 * Locks the runs of the oldest signals. A signal that nobody waits for is deleted on the way: its run has moved on while it was
 * written, as one that was cancelled, and waits for each call and child once. 710 buffers for 100 runs beside 10⁴, 910 beside
 * 10⁶, at most 15,000 for 1,000 signals that nobody waits for.
 */
async function toldRuns(tx: EngineTx, most: number): Promise<(LockedRow & { signal: Signal })[]> {
  const { rows } = await sql<LockedRow & { signal: Signal }>`
    with head as (
      select s.*, r.waits_for, r.server_id
      from (select *, ctid from run_signals order by created_at limit ${MOST_SIGNALS}) s
      left join lateral (
        select t.waits_for, t.server_id from workflow_runs t ${whereRunIs(sql`s.workspace_id`, sql`s.run_id`)}
      ) r on true),
    forgotten as (
      delete from run_signals where ctid = any(array(select ctid from head where waits_for is distinct from source)))
    select r.*, h.data as signal from head h
    cross join lateral (
      select t.*, t.ctid from workflow_runs t ${whereRunIs(sql`h.workspace_id`, sql`h.run_id`)}
      for no key update skip locked
    ) r
    where h.waits_for = h.source and h.server_id is null and r.waits_for = h.source and r.server_id is null
    limit ${most}`.execute(tx.db);
  return rows;
}

/**
 * Lets go of runs without a change: each is due again at its time, or where that is null when its signal comes; one that
 * sleeps at its `wakeAt`, which may have changed. Runs that this server doesn't hold any more are left alone. For 100 it
 * touches 2,300 buffers beside 10⁴ runs, 2,770 beside 10⁶.
 */
export async function releaseRuns(
  tx: EngineTx,
  runs: readonly { run: Pick<RunRow, 'workspace_id' | 'id' | 'server_id'>; dueAt: Date | null }[],
): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map(({ run: { workspace_id, id, server_id }, dueAt }) => ({
    workspace_id,
    id,
    server_id,
    due_at: dueAt,
  }));
  await sql`
    update workflow_runs r set server_id = null, due_at = case when r.status = 'waiting_schedule' then r.wake_at else x.due_at end
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as x (workspace_id uuid, id uuid, server_id uuid, due_at timestamptz)
    cross join lateral (
      select t.ctid from workflow_runs t ${whereRunIs(sql`x.workspace_id`, sql`x.id`)}
    ) as found
    where r.ctid = found.ctid and r.server_id is not distinct from x.server_id`.execute(tx.db);
}
