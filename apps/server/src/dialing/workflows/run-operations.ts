import { pageAnswer, pageOf, several } from '../../foundation/database/page.ts';
import type { Handlers, Input, RequestContext } from '../../foundation/http/handler.ts';
import { fromId, newUuid } from '../../foundation/values/ids.ts';
import { ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import type { FollowDeps } from '../../platform/journal/follow.ts';
import { checkContext, checkHeaders } from './check-run-request.ts';
import { type CancelRunDeps, cancelRun } from './runs/cancel-run.ts';
import { type Flow, type Flows, flowName } from './runs/flows.ts';
import type { RunRow } from './runs/run.ts';
import type { StartRun } from './runs/run-starter.ts';
import { type RunName, readRun, readSteps, requireWorkflow, runPage } from './runs/run-store.ts';
import { shapeRun, shapeStep } from './runs/shape-run.ts';
import { streamRunEvents } from './runs/stream-run-events.ts';
import { wakeRuns } from './runs/wake-runs.ts';

const MOST_STEPS = 1000;

/** What the operations of runs work with. */
export interface RunDeps extends CancelRunDeps, FollowDeps {
  flows: Flows;
  startRun: StartRun;
}

type ListQuery = Input<'listRuns'>['query'];

/** A run with the title of its node. */
const withTitle = (run: RunRow, flows: Map<string, Flow>) => shapeRun(run, flows.get(flowName(run)));

/** What a path names. */
const nameOf = (path: { runId: string; workflowId?: string }): RunName => ({
  runId: fromId(path.runId),
  ...(path.workflowId !== undefined && { workflowId: fromId(path.workflowId) }),
});

/** The operations of workflow runs. */
export function runOperations(deps: RunDeps) {
  const { database, flows } = deps;

  const titled = async (workspaceId: string, run: RunRow) =>
    withTitle(run, await database.inWorkspace(workspaceId, (tx) => flows.of(tx, [run])));

  async function list(query: ListQuery, workspaceId: string, workflowId?: string) {
    const page = pageOf(query);
    const wanted = { ...page, workflowId, statuses: several(query.status), concurrencyKey: query.concurrencyKey };
    const found = await database.inSnapshot(workspaceId, async (tx) => {
      if (workflowId !== undefined) await requireWorkflow(tx, workflowId);
      const runs = await runPage(tx, wanted);
      return { ...runs, flows: await flows.of(tx, runs.rows) };
    });
    return ok(pageAnswer(page, found, (run) => withTitle(run, found.flows)));
  }

  const read = async (name: RunName, workspaceId: string) =>
    ok(
      await database.inSnapshot(workspaceId, async (tx) => {
        const run = await readRun(tx, name);
        const steps = await readSteps(tx, run.id, MOST_STEPS);
        const known = await flows.of(tx, [run]);
        const { definition } = known.get(flowName(run))!;
        return { ...withTitle(run, known), steps: steps.map((step) => shapeStep(step, definition)) };
      }),
    );

  async function stream(name: RunName, lastEventId: string | undefined, { workspaceId }: RequestContext) {
    const found = await streamRunEvents(deps, name, { workspaceId, lastEventId });
    return found ? { status: 200 as const, stream: found } : { status: 204 as const };
  }

  async function cancel(runId: string, name: RunName, context: RequestContext) {
    const auditEntry = auditOf(context)('workflow_run.cancelled', 'workflow_run', runId);
    return ok(shapeRun(await cancelRun(deps, context.workspaceId, name, auditEntry)));
  }

  return {
    startWorkflowRun: async ({ path, headers, body }, context) => {
      const cooldownMinutes = headers['Cooldown-Minutes'];
      const concurrencyKey = headers['Concurrency-Key'];
      checkHeaders(concurrencyKey, cooldownMinutes);
      const given = body.context ?? {};
      checkContext(given);
      const { run, isReplayed } = await deps.startRun(context.workspaceId, {
        id: newUuid(),
        workflowId: fromId(path.workflowId),
        idempotencyKey: headers['Idempotency-Key'],
        concurrencyKey,
        cooldownMinutes,
        context: given,
        auditOf: auditOf(context),
      });
      const data = isReplayed ? await titled(context.workspaceId, run) : shapeRun(run);
      return replayable({ status: 202 as const, body: { success: true as const, data } }, isReplayed);
    },
    listWorkflowRuns: ({ path, query }, { workspaceId }) => list(query, workspaceId, fromId(path.workflowId)),
    listRuns: ({ query }, { workspaceId }) => list(query, workspaceId),
    getWorkflowRun: ({ path }, { workspaceId }) => read(nameOf(path), workspaceId),
    getRun: ({ path }, { workspaceId }) => read(nameOf(path), workspaceId),
    streamWorkflowRunEvents: ({ path, headers }, context) => stream(nameOf(path), headers['Last-Event-ID'], context),
    streamRunEvents: ({ path, headers }, context) => stream(nameOf(path), headers['Last-Event-ID'], context),
    cancelWorkflowRun: ({ path }, context) => cancel(path.runId, nameOf(path), context),
    cancelRun: ({ path }, context) => cancel(path.runId, nameOf(path), context),
    wakeWorkflowRuns: async ({ path, body }, context) => {
      const workflowId = fromId(path.workflowId);
      await database.inWorkspace(context.workspaceId, (tx) => requireWorkflow(tx, workflowId));
      const auditEntry = auditOf(context)('workflow.runs_woken', 'workflow', path.workflowId);
      return ok({ woken: await wakeRuns(deps, context.workspaceId, workflowId, body.concurrencyKeys, auditEntry) });
    },
  } satisfies Partial<Handlers>;
}
