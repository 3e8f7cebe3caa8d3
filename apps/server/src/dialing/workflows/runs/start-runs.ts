import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { giveIdempotencyKeysBack, takeIdempotencyKeys } from '../../../foundation/database/idempotency-keys.ts';
import { together } from '../../../foundation/database/together.ts';
import { notFound, ServiceError } from '../../../foundation/values/service-error.ts';
import { audit, recordAll } from '../../../platform/journal/record.ts';
import { missingContext } from '../definitions/required-context.ts';
import { takeConcurrencyKeys } from './concurrency-keys.ts';
import type { Flows } from './flows.ts';
import { insertRuns } from './insert-runs.ts';
import { latestFlows } from './latest-flows.ts';
import { newRun } from './new-run.ts';
import type { RunRow } from './run.ts';
import { runEvent } from './run-event.ts';
import { type NewRun, namedStart, type RunStart, START_OPERATION, type StartResult, startEntry } from './run-start.ts';

/**
 * Starts runs, each as if it came alone, in this order: replay, workflow, published, concurrency, cooldown, create
 * (workflows.md, "Starting one"). No two of them may bear the same `Idempotency-Key` or `Concurrency-Key`. One that is
 * refused leaves nothing behind.
 * @param serverId the server that holds the new runs; without it whoever claims them
 */
export async function startRuns(
  tx: WorkspaceTx,
  flows: Flows,
  starts: readonly RunStart[],
  now: Date,
  serverId: string | undefined,
): Promise<StartResult[]> {
  const named = starts.map((start) => namedStart(start, now));
  const workflowIds = starts.map((start) => start.workflowId);
  const [taken, latest] = await together(tx, [
    () => takeIdempotencyKeys(tx, named),
    () => latestFlows(tx, flows, tx.workspaceId, workflowIds),
  ]);
  const replayed = await readRuns(
    tx,
    starts.flatMap(({ id }, at) => replayedId(taken[at]!, id) ?? []),
  );
  const refusals = new Map<RunStart, ServiceError>();
  const passed: NewRun[] = [];
  for (const [at, start] of starts.entries()) {
    if (taken[at] !== start.id) continue;
    const follows = latest.get(start.workflowId);
    const missing = follows && follows !== 'draft' ? missingContext(follows.flow.definition, start.context) : [];
    if (!follows) refusals.set(start, notFound());
    else if (follows === 'draft') refusals.set(start, notPublished());
    else if (missing.length > 0) refusals.set(start, lacksContext(missing));
    else passed.push({ start, follows, run: newRun(tx.workspaceId, { ...start, serverId }, follows, now) });
  }
  const conflicts = await takeConcurrencyKeys(tx, passed, now);
  for (const { start } of passed) {
    const conflict = conflicts.get(start.id);
    if (conflict) refusals.set(start, conflict);
  }
  const fresh = new Map(passed.filter(({ run }) => !conflicts.has(run.id)).map((each) => [each.start, each]));
  const runs = [...fresh.values()].map(({ run }) => run);
  const refusedKeys = [...refusals.keys()].map((start) => start.idempotencyKey);
  await together(tx, [
    () => giveIdempotencyKeysBack(tx, START_OPERATION, refusedKeys),
    () => insertRuns(tx, runs),
    () =>
      recordAll(
        tx,
        runs.map((run) => runEvent(run)),
      ),
    () => audit(tx, [...fresh.keys()].map(startEntry), now),
  ]);
  return starts.map((start, at) => {
    const key = taken[at]!;
    if (key instanceof ServiceError) return key;
    if (key === start.id) return refusals.get(start) ?? fresh.get(start)!;
    const run = replayed.get(key);
    return run ? { run, isReplayed: true } : notFound();
  });
}

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
