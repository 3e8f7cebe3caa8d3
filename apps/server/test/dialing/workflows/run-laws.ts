import { type Kysely, sql } from 'kysely';
import { expect } from 'vitest';
import { isFinal, mayMove, type RunRow, runTransitions } from '../../../src/dialing/workflows/runs/run.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import type { RunStatus, Schema } from '../../../src/foundation/database/schema.ts';

/** Has the database write down every change of every run, beside what the engine says of itself. */
export async function watchRuns(database: Database): Promise<void> {
  await database.inEngine(({ db }) =>
    sql
      .raw(`
        create table run_changes (at bigserial, run_id uuid, before jsonb, after jsonb);
        create function note_run_change() returns trigger language plpgsql as $$
          begin
            insert into run_changes (run_id, before, after) values (new.id, to_jsonb(old), to_jsonb(new));
            return null;
          end $$;
        create trigger note_run_change after update on workflow_runs for each row execute function note_run_change()`)
      .execute(db),
  );
}

interface ChangeRow {
  run_id: string;
  before: RunRow;
  after: RunRow;
}

interface EventRow {
  resource_id: string;
  revision: number;
  type: string;
}

/** What a client sees of a run. */
const visible = ({ server_id, due_at, ...rest }: RunRow) => rest;

/** Holds the laws of runs over everything that has happened in a workspace. */
export async function expectLaws(database: Database, workspaceId: string): Promise<void> {
  const seen = await database.inSnapshot(workspaceId, ({ db }) => readAll(db, workspaceId));
  const eventsOf = groupBy(seen.events, (event) => event.resource_id);
  for (const change of seen.changes) expectListedChange(change, eventsOf.get(change.run_id)!);
  for (const run of seen.runs) expectEventsOf(run, eventsOf.get(run.id)!);
  for (const run of seen.runs) expectEndOrWait(run);
  expectApart(seen.runs);
  expect(seen.wrongKeys).toEqual([]);
  for (const steps of seen.steps) expectRightSteps(steps);
}

async function readAll(db: Kysely<Schema>, workspaceId: string) {
  const runs = await sql<RunRow>`
    select * from workflow_runs where workspace_id = ${workspaceId} order by created_at, ended_at nulls last`.execute(
    db,
  );
  const changes = await sql<ChangeRow>`
    select c.run_id, c.before, c.after from run_changes c join workflow_runs r on r.id = c.run_id
    where r.workspace_id = ${workspaceId} order by c.at`.execute(db);
  const events = await sql<EventRow>`
    select resource_id, revision, type from events where workspace_id = ${workspaceId}
    order by resource_id, revision`.execute(db);
  const wrongKeys = await sql`
    select k.key, k.active_run, r.id from concurrency_keys k
    full join (select * from workflow_runs where ended_at is null and concurrency_key is not null) r
      on r.workspace_id = k.workspace_id and r.concurrency_key = k.key
    where coalesce(k.workspace_id, r.workspace_id) = ${workspaceId} and k.active_run is distinct from r.id`.execute(db);
  const steps = await sql<StepsRow>`
    select r.status, array_agg(s.step order by s.step) as steps, count(*) filter (where s.ended_at is null or s.status in ('running', 'waiting')) as open,
      bool_or(s.ended_at is null and s.step = r.step) as last_open
    from workflow_runs r join workflow_run_steps s on s.workspace_id = r.workspace_id and s.run_id = r.id
    where r.workspace_id = ${workspaceId} group by r.workspace_id, r.id`.execute(db);
  return {
    runs: runs.rows,
    changes: changes.rows,
    events: events.rows,
    wrongKeys: wrongKeys.rows,
    steps: steps.rows,
  };
}

/** A change raises the revision by one, and moves along a listed transition; a lease is no change. */
function expectListedChange({ before, after }: ChangeRow, events: EventRow[]): void {
  const by = after.revision - before.revision;
  if (by === 0) expect(visible(after)).toEqual(visible(before));
  else if (by === 1)
    expect([before.status, after.status, mayMove(runTransitions, before.status, after.status)]).toContain(true);
  else {
    // Two changes in one commit: the run ran in between, and an event says so where it didn't before.
    expect(by).toBe(2);
    expect(mayMove(runTransitions, before.status, 'running') && mayMove(runTransitions, 'running', after.status)).toBe(
      true,
    );
    const ran = { revision: before.revision + 1, type: 'workflow_run.running' };
    if (before.status !== 'running') expect(events).toContainEqual(expect.objectContaining(ran));
  }
  if (by > 0 && after.status !== before.status) {
    const told = { revision: after.revision, type: `workflow_run.${after.status}` };
    expect(events).toContainEqual(expect.objectContaining(told));
  }
  if (isFinal(before.status)) expect(visible(after)).toEqual(visible(before));
}

function expectEventsOf(run: RunRow, events: EventRow[]): void {
  const states = events.map(({ type }) => type.replace('workflow_run.', '') as RunStatus);
  expect(states[0]).toBe('queued');
  expect(states.at(-1)).toBe(run.status);
  for (const [at, state] of states.slice(1).entries()) {
    expect([states[at], state, state !== states[at] && mayMove(runTransitions, states[at]!, state)]).toContain(true);
  }
  if (isFinal(run.status)) expect(events.at(-1)!.revision).toBe(run.revision);
}

/** Every started run ends, or waits for something that has a name. */
function expectEndOrWait(run: RunRow): void {
  const { status } = run;
  expect(['queued']).not.toContain(status);
  expect(run.server_id).toBeNull();
  if (isFinal(status)) expect([run.due_at, run.waits_for, run.ended_at === null]).toEqual([null, null, false]);
  if (status === 'waiting_call' || status === 'waiting_automation') expect(run.waits_for).not.toBeNull();
  if (status === 'waiting_schedule') expect(run.due_at).toEqual(run.wake_at);
  if (status === 'blocked') expect([run.error?.code, run.due_at]).toEqual([expect.any(String), expect.any(Date)]);
  // An http request is tried again later.
  if (status === 'running') expect(run.due_at).not.toBeNull();
}

/** Runs with one key never overlap. Of those that began in the same instant, the first to end began first. */
function expectApart(runs: RunRow[]): void {
  const keyed = groupBy(
    runs.filter((run) => run.concurrency_key !== null),
    (run) => run.concurrency_key!,
  );
  for (const line of keyed.values()) {
    for (const [at, run] of line.slice(1).entries()) {
      expect(line[at]!.ended_at).not.toBeNull();
      expect(line[at]!.ended_at!.getTime()).toBeLessThanOrEqual(run.created_at.getTime());
    }
  }
}

interface StepsRow {
  status: RunStatus;
  steps: number[];
  open: number;
  last_open: boolean;
}

/** Steps are numbered without a gap; only the last may be open, and only of a run that is. */
function expectRightSteps({ status, steps, open, last_open }: StepsRow): void {
  expect(steps).toEqual(steps.map((_, at) => at + 1));
  expect([status, open]).toEqual([status, isFinal(status) ? 0 : 1]);
  if (!isFinal(status)) expect(last_open).toBe(true);
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
