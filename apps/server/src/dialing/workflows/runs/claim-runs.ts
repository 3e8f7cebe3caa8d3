import { type RawBuilder, sql } from 'kysely';
import { NIL } from 'uuid';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import type { DueTime } from '../../../platform/jobs/quiet.ts';
import type { Signal } from './advance-run.ts';
import type { RunRow } from './run.ts';
import { whereRunIs } from './run-by-key.ts';

/** When the first run is due; those whose signal has come are. */
export const firstDueRun: DueTime = sql`least(
  (select due_at from workflow_runs where due_at is not null and server_id is null order by due_at limit 1),
  (select created_at from run_signals order by created_at limit 1))`;

/** A run that this server now holds, with what it has waited for where that has come. */
export interface ClaimedRun {
  run: RunRow;
  signal?: Signal;
}

/** The workspaces that had the last turn of a server: however many runs of one are due or told, the others have theirs. */
export interface RunTurns {
  after: string;
  /** Of those whose signals have come, while more of these wait than a claim looks at. */
  toldAfter?: string | undefined;
}

/** The most runs of a workspace that a claim takes of each kind by its turn, and how many workspaces a claim looks at for those that are due. */
const TURN_SIZE = 10;
const MOST_WORKSPACES = 100;

/**
 * Takes runs for a server, at most `most` of each kind: those that are due, and those whose signal has come. Of those
 * that are due, workspaces have some each by turns, and what is left goes to those that are longest due; of those that
 * are told the same, if more signals wait than one claim looks at. Only heads of indexes are read, however many runs
 * sleep (dialing.md, "Claims"). To take 100 touches 1,760 buffers beside 10⁴ runs, 2,220 beside 10⁶, and at most four
 * for each workspace that is looked at.
 * @param turns is moved on
 */
export async function claimRuns(
  tx: EngineTx,
  serverId: string,
  most: number,
  now: Date,
  turns: RunTurns = { after: NIL },
): Promise<ClaimedRun[]> {
  const workspaces = await nextWorkspaces(tx, most, now, turns);
  const [first, longest, firstTold, longestTold] = await together(tx, [
    () => (workspaces.length > 0 ? dueByTurns(tx, workspaces, most, now) : Promise.resolve([])),
    () => dueRuns(tx, most, now),
    () => (turns.toldAfter ? toldByTurns(tx, turns.toldAfter, most) : Promise.resolve(undefined)),
    () => toldRuns(tx, most),
  ]);
  turns.toldAfter = longestTold.isAll ? undefined : (firstTold?.last ?? NIL);
  const told = distinct([...(firstTold?.runs ?? []), ...longestTold.runs]).slice(0, most);
  const due = distinct([...first, ...longest]).slice(0, most);
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
type ToldRow = LockedRow & { signal: Signal };

const distinct = <Row extends RunRow>(runs: Row[]): Row[] => [...new Map(runs.map((run) => [run.id, run])).values()];

/**
 * The workspaces that have the next turns, as many as there is room for; none where a single one has runs that are due. Of
 * those that are looked at some may have none.
 */
async function nextWorkspaces(tx: EngineTx, most: number, now: Date, turns: RunTurns): Promise<string[]> {
  const next = (after: RawBuilder<unknown>) => sql`
    select workspace_id, due_at from workflow_runs
    where due_at is not null and server_id is null and workspace_id > ${after} order by workspace_id, due_at limit 1`;
  const { rows } = await sql<{ workspace_id: string; is_due: boolean }>`
    with recursive turn (workspace_id, due_at, place) as (
      (select n.*, 1 from (${next(sql`${turns.after}`)}) as n
        where exists (select from workflow_runs where due_at <= ${now}))
      union all
      select n.*, t.place + 1 from turn t cross join lateral (${next(sql`t.workspace_id`)}) as n
        where t.place < ${sql.lit(MOST_WORKSPACES)})
    select workspace_id, due_at <= ${now} as is_due from turn`.execute(tx.db);
  const allDue = rows.filter((row) => row.is_due);
  const due = allDue.slice(0, Math.ceil(most / TURN_SIZE));
  // Only where all were looked at: others may stand before the first of these, or behind the last.
  const sawAll = turns.after === NIL && rows.length < MOST_WORKSPACES;
  const isAlone = sawAll && allDue.length <= 1;
  const isFull = due.length * TURN_SIZE >= most;
  const last = isFull ? due.at(-1) : rows.length === MOST_WORKSPACES ? rows.at(-1) : undefined;
  turns.after = last?.workspace_id ?? NIL;
  return isAlone ? [] : due.map((row) => row.workspace_id);
}

async function dueByTurns(tx: EngineTx, workspaces: string[], most: number, now: Date): Promise<LockedRow[]> {
  const { rows } = await sql<LockedRow>`
    select r.* from unnest(${workspaces}::uuid[]) as w (id) cross join lateral (
      select *, ctid from workflow_runs
      where workspace_id = w.id and due_at is not null and server_id is null and due_at <= ${now}
      order by workspace_id, due_at limit ${sql.lit(TURN_SIZE)} for no key update skip locked) as r
    limit ${most}`.execute(tx.db);
  return rows;
}

/** 120 buffers for 100 runs, beside 10⁴ as beside 10⁶. */
async function dueRuns(tx: EngineTx, most: number, now: Date): Promise<LockedRow[]> {
  const { rows } = await sql<LockedRow>`
    select *, ctid from workflow_runs where due_at <= ${now} and server_id is null
    order by due_at limit ${most} for no key update skip locked`.execute(tx.db);
  return rows;
}

/** How many of the oldest signals a claim looks at: more than a few servers hold runs whose signal isn't deleted yet. */
const MOST_SIGNALS = 1000;
/** And how many of a workspace that has its turn. */
const MOST_SIGNALS_OF_ONE = 100;

/** A run of a signal, where it waits for that and nobody holds it. */
const lockedRun = sql`
  select t.*, t.ctid from workflow_runs t ${whereRunIs(sql`s.workspace_id`, sql`s.run_id`)} for no key update skip locked`;

/**
 * Locks the runs of the oldest signals, and says whether it has looked at all signals. One that nobody waits for is deleted on
 * the way: its run has moved on while it was written, as one that was cancelled, and waits for each call and child once. 710
 * buffers for 100 runs beside 10⁴, 910 beside 10⁶, at most 15,000 for 1,000 signals that nobody waits for.
 */
async function toldRuns(tx: EngineTx, most: number): Promise<{ runs: ToldRow[]; isAll: boolean }> {
  const { rows } = await sql<(ToldRow | { id: null }) & { signals: number }>`
    with head as (
      select s.*, r.waits_for, r.server_id
      from (select *, ctid from run_signals order by created_at limit ${MOST_SIGNALS}) s
      left join lateral (
        select t.waits_for, t.server_id from workflow_runs t ${whereRunIs(sql`s.workspace_id`, sql`s.run_id`)}
      ) r on true),
    forgotten as (
      delete from run_signals where ctid = any(array(select ctid from head where waits_for is distinct from source)))
    select told.*, seen.signals from (select count(*)::integer as signals from head) as seen
    left join lateral (
      select r.*, s.data as signal from head s cross join lateral (${lockedRun}) as r
      where s.waits_for = s.source and s.server_id is null and r.waits_for = s.source and r.server_id is null
      limit ${most}) as told on true`.execute(tx.db);
  const runs = rows.flatMap(({ signals, ...run }) => (run.id === null ? [] : [run]));
  return { runs, isAll: rows[0]!.signals < MOST_SIGNALS };
}

/**
 * Locks runs of signals of the workspaces that come after one, as many as there is room for, some of each, and says which
 * was the last: the nil UUID where there are no more. What others hold is passed over before it is locked.
 */
async function toldByTurns(tx: EngineTx, after: string, most: number): Promise<{ runs: ToldRow[]; last: string }> {
  const next = (before: RawBuilder<unknown>) => sql`
    select workspace_id from run_signals where workspace_id > ${before} order by workspace_id limit 1`;
  const workspaces = Math.ceil(most / TURN_SIZE);
  const { rows } = await sql<(ToldRow | { id: null }) & { turn: string }>`
    with recursive turn (workspace_id, place) as (
      (select n.*, 1 from (${next(sql`${after}::uuid`)}) as n)
      union all
      select n.*, t.place + 1 from turn t cross join lateral (${next(sql`t.workspace_id`)}) as n
        where t.place < ${workspaces}::integer)
    select told.*, turn.workspace_id as turn from turn left join lateral (
      select r.*, s.data as signal from (
        select head.* from (
          select * from run_signals where workspace_id = turn.workspace_id
          order by workspace_id, run_id limit ${MOST_SIGNALS_OF_ONE}) head
        cross join lateral (
          select t.waits_for, t.server_id from workflow_runs t ${whereRunIs(sql`head.workspace_id`, sql`head.run_id`)}) now
        where now.waits_for = head.source and now.server_id is null offset 0) s
      cross join lateral (${lockedRun}) as r
      where r.waits_for = s.source and r.server_id is null
      limit ${sql.lit(TURN_SIZE)}) as told on true`.execute(tx.db);
  const isEnd = new Set(rows.map(({ turn }) => turn)).size < workspaces;
  const runs = rows.flatMap(({ turn, ...run }) => (run.id === null ? [] : [run]));
  return { runs, last: isEnd ? NIL : rows.at(-1)!.turn };
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
