import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { giveIdempotencyKeysBack, type NamedRequest, takeIdempotencyKeys } from '../database/idempotency-keys.ts';
import { toId } from '../ids.ts';
import type { ActorOf } from '../journal/actor.ts';
import { audit, recordAll } from '../journal/record.ts';
import { notFound, ServiceError } from '../service-error.ts';
import { takeConcurrencyKeys } from './concurrency-keys.ts';
import type { Flows } from './flows.ts';
import { insertRuns } from './insert-runs.ts';
import { latestFlows } from './latest-flows.ts';
import { newRun } from './new-run.ts';
import { missingContext } from './required-context.ts';
import type { RunRow } from './run.ts';
import { runEvent } from './run-event.ts';

const OPERATION = 'startWorkflowRun';

/** A start that has passed the contract's checks. */
export interface RunStart {
  /** UUID of the run that it makes. */
  id: string;
  workflowId: string;
  idempotencyKey: string;
  concurrencyKey: string | undefined;
  cooldownMinutes: number | undefined;
  context: Record<string, unknown>;
  actorOf: ActorOf;
}

/** What became of a start: the run, now or at an earlier time; or why there is none. */
export type StartResult = { run: RunRow; isReplayed: boolean } | ServiceError;

/**
 * Starts runs, each as if it came alone, in this order: replay, workflow, published, concurrency, cooldown, create
 * (decisions.md, "Workflows"). No two of them may bear the same `Idempotency-Key` or `Concurrency-Key`. One that is
 * refused leaves nothing behind.
 */
export async function startRuns(
  tx: WorkspaceTx,
  flows: Flows,
  starts: readonly RunStart[],
  now: Date,
): Promise<StartResult[]> {
  // A start that waits for another server's transaction gives up before its client does.
  const waits = sql`select set_config('lock_timeout', '5s', true)`.execute(tx.db);
  const taking = takeIdempotencyKeys(
    tx,
    starts.map((start) => named(start, now)),
  );
  const [, taken, latest] = await Promise.all([
    waits,
    taking,
    latestFlows(
      tx,
      flows,
      tx.workspaceId,
      starts.map((start) => start.workflowId),
    ),
  ]);
  const replayed = await readRuns(
    tx,
    starts.flatMap(({ id }, at) => replayedId(taken[at]!, id) ?? []),
  );
  const refusals = new Map<RunStart, ServiceError>();
  const fresh: RunRow[] = [];
  for (const [at, start] of starts.entries()) {
    const key = taken[at]!;
    if (key !== start.id) continue;
    const flow = latest.get(start.workflowId);
    const run = flow && flow !== 'draft' ? newRun(tx.workspaceId, start, flow, now) : undefined;
    const missing = flow && flow !== 'draft' ? missingContext(flow.flow.definition, start.context) : [];
    if (!flow) refusals.set(start, notFound());
    else if (!run) refusals.set(start, notPublished());
    else if (missing.length > 0) refusals.set(start, lacksContext(missing));
    else fresh.push(run);
  }
  const startOf = new Map(starts.map((start) => [start.id, start]));
  const conflicts = await takeConcurrencyKeys(tx, fresh, startOf, now);
  for (const [id, refusal] of conflicts) refusals.set(startOf.get(id)!, refusal);
  const runs = fresh.filter((run) => !conflicts.has(run.id));
  await Promise.all([
    giveIdempotencyKeysBack(
      tx,
      OPERATION,
      [...refusals.keys()].map((start) => start.idempotencyKey),
    ),
    insertRuns(tx, runs),
    recordAll(tx, runs.map(runEvent)),
    audit(
      tx,
      runs.map(({ id }) => startedBy(startOf.get(id)!)),
      now,
    ),
  ]);
  const runOf = new Map(runs.map((run) => [run.id, run]));
  return starts.map((start, at) => {
    const key = taken[at]!;
    if (key instanceof ServiceError) return key;
    if (key === start.id) return refusals.get(start) ?? { run: runOf.get(start.id)!, isReplayed: false };
    const earlier = replayed.get(key);
    return earlier ? { run: earlier, isReplayed: true } : notFound();
  });
}

const startedBy = ({ id, actorOf }: RunStart) => actorOf('workflow_run.started', 'workflow_run', toId('run', id));

/** Equal starts are those of one workflow, one body and the same headers. */
const named = (start: RunStart, now: Date): NamedRequest => ({
  operation: OPERATION,
  key: start.idempotencyKey,
  request: [start.workflowId, start.concurrencyKey ?? null, start.cooldownMinutes ?? null, start.context],
  resourceId: start.id,
  now,
});

const replayedId = (taken: string | ServiceError, id: string): string | undefined =>
  typeof taken === 'string' && taken !== id ? taken : undefined;

async function readRuns(tx: WorkspaceTx, ids: string[]): Promise<Map<string, RunRow>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<RunRow>`
    select * from workflow_runs where workspace_id = ${tx.workspaceId} and id = any(${ids}::uuid[])`.execute(tx.db);
  return new Map(rows.map((row) => [row.id, row]));
}

const notPublished = () => new ServiceError('workflow_not_published', 'The workflow is a draft. Publish it first.');

const lacksContext = (keys: string[]) =>
  new ServiceError('invalid_request', `The workflow needs ${keys.join(', ')} in the context.`.slice(0, 2048), {
    details: keys.map((key) => ({
      path: `/body/context/${key}`.slice(0, 512),
      message: 'is required by the workflow',
    })),
  });
