import { sql } from 'kysely';
import type { EngineTx } from '../../database/database.ts';
import type { Signal } from './advance-run.ts';
import type { RunRow } from './run.ts';

/** A run that this server now holds, with what it has waited for where that has come. */
export interface ClaimedRun {
  run: RunRow;
  signal?: Signal;
}

/**
 * Takes runs for a server, at most `most` of each kind: those that are due, longest due first, and those whose signal
 * has come. Two statements each, so that only the head of an index is read, however many runs sleep (engine.md, "Claims").
 */
export async function claimRuns(tx: EngineTx, serverId: string, most: number, now: Date): Promise<ClaimedRun[]> {
  const [due, told] = await Promise.all([dueRuns(tx, most, now), toldRuns(tx, most)]);
  const signals = new Map(told.map(({ id, signal }) => [id, signal]));
  const runs = new Map([...due, ...told.map(({ signal, ...run }) => run)].map((run) => [run.id, run]));
  if (runs.size === 0) return [];
  const places = [...runs.values()].map(({ place }) => place);
  await sql`
    update workflow_runs set server_id = ${serverId}, due_at = null where ctid = any(${places}::tid[])`.execute(tx.db);
  return [...runs.values()].map(({ place, ...run }) => {
    const signal = signals.get(run.id);
    return { run: { ...run, server_id: serverId, due_at: null }, ...(signal && { signal }) };
  });
}

/** A run's row, and where it stands as long as it is locked. */
type PlacedRow = RunRow & { place: string };

async function dueRuns(tx: EngineTx, most: number, now: Date): Promise<PlacedRow[]> {
  const { rows } = await sql<PlacedRow>`
    select *, ctid as place from workflow_runs where due_at <= ${now} and server_id is null
    order by due_at limit ${most} for no key update skip locked`.execute(tx.db);
  return rows;
}

async function toldRuns(tx: EngineTx, most: number): Promise<(PlacedRow & { signal: Signal })[]> {
  const { rows } = await sql<PlacedRow & { signal: Signal }>`
    select r.*, r.ctid as place, s.data as signal from run_signals s
    join workflow_runs r on r.workspace_id = s.workspace_id and r.id = s.run_id
    where r.waits_for = s.source and r.server_id is null
    order by s.created_at limit ${most} for no key update of r skip locked`.execute(tx.db);
  return rows;
}

/**
 * Lets go of runs without a change: each is due again at its time, or where that is null when its signal comes; one that
 * sleeps at its `wakeAt`, which may have changed. Runs that this server doesn't hold any more are left alone.
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
      select t.ctid as place from workflow_runs t where t.workspace_id = x.workspace_id and t.id = x.id limit 1
    ) as found
    where r.ctid = found.place and r.server_id is not distinct from x.server_id`.execute(tx.db);
}

/**
 * Gives the runs of servers that are no more to whoever claims them. Answers how many.
 */
export async function freeLostRuns(tx: EngineTx, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update workflow_runs r set server_id = null, due_at = ${dueAgain(now)}
    where server_id is not null and not exists (
      select from servers s where s.id = r.server_id and s.lease_until > clock_timestamp())`.execute(tx.db);
  return Number(numAffectedRows);
}

/**
 * Gives back what only the database holds in this server's name: the answer to a commit was lost. A run that was missing
 * at the last look too is; one that is just being claimed is not.
 * @param inMemory the runs that this process holds
 * @param missing what the last look has answered
 * @returns the runs that were missing now
 */
export async function freeForgottenRuns(
  tx: EngineTx,
  serverId: string,
  inMemory: ReadonlySet<string>,
  missing: ReadonlySet<string>,
  now: Date,
): Promise<Set<string>> {
  const { rows } = await sql<Pick<RunRow, 'id'>>`
    select id from workflow_runs where server_id = ${serverId}`.execute(tx.db);
  const absent = rows.map(({ id }) => id).filter((id) => !inMemory.has(id));
  const forgotten = absent.filter((id) => missing.has(id));
  if (forgotten.length > 0) {
    await sql`
      update workflow_runs set server_id = null, due_at = ${dueAgain(now)}
      where server_id = ${serverId} and id = any(${forgotten}::uuid[])`.execute(tx.db);
  }
  return new Set(absent);
}

const OLD_SIGNAL_MS = 600_000;

/** Deletes signals that came too late: nobody waits for them any more. */
export async function forgetOldSignals(tx: EngineTx, now: Date): Promise<void> {
  const before = new Date(now.getTime() - OLD_SIGNAL_MS);
  await sql`
    delete from run_signals s where s.created_at < ${before} and not exists (
      select from workflow_runs r where r.workspace_id = s.workspace_id and r.id = s.run_id and r.waits_for = s.source)
    `.execute(tx.db);
}

/** A run that waits for a signal is claimed with it; any other looks for itself what there is to do. */
const dueAgain = (now: Date) =>
  sql`case when status in ('waiting_call', 'waiting_automation') then null else ${now}::timestamptz end`;
