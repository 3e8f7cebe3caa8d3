import type { EngineTx } from '../../../foundation/database/database.ts';
import type { RunError } from '../../../foundation/database/schema.ts';
import { fromId, newUuid, toId } from '../../../foundation/values/ids.ts';
import type { ChildNode } from '../definitions/definition.ts';
import { fillValues } from '../definitions/fill-template.ts';
import { missingContext } from '../definitions/required-context.ts';
import { after, type Change, goOn, goWrong, waitAs } from './change-run.ts';
import { contextFault } from './context-limits.ts';
import type { Flows } from './flows.ts';
import { latestFlows } from './latest-flows.ts';
import { newRun } from './new-run.ts';
import { isFinal, type RunRow } from './run.ts';

/** How many runs may stand in a line of parents and children. */
const MAX_DEPTH = 10;

/**
 * Makes the child run of a `workflow` node, to be inserted with the change that it answers with.
 * @throws StepError where a template can't be filled in
 */
export async function startChild(
  tx: EngineTx,
  flows: Flows,
  run: RunRow,
  node: ChildNode,
  now: Date,
): Promise<{ change: Change; child?: RunRow }> {
  const workflowId = fromId(node.workflowId);
  const context = fillValues(node.context ?? {}, run.context);
  const latest = (await latestFlows(tx, flows, run.workspace_id, [workflowId])).get(workflowId);
  const missing = latest && latest !== 'draft' ? missingContext(latest.flow.definition, context) : [];
  const wrong = (code: string, message: string) => ({ change: goWrong(run, node.onError, { code, message }, now) });
  if (run.depth >= MAX_DEPTH) return wrong('child_too_deep', `Runs start each other at most ${MAX_DEPTH} deep.`);
  if (!latest) return wrong('workflow_not_found', `There is no workflow ${node.workflowId}.`);
  if (latest === 'draft') return wrong('workflow_not_published', `The workflow ${node.workflowId} is a draft.`);
  if (missing.length > 0) return wrong('child_context_missing', `The child run needs ${missing.join(', ')}.`);
  const fault: RunError | undefined = contextFault(context);
  if (fault) return wrong(fault.code, fault.message);
  const child = newRun(run.workspace_id, { id: newUuid(), context, parent: run }, latest, now);
  const step = { child_run_id: child.id };
  if (node.wait !== false) {
    return { change: waitAs(run, 'waiting_automation', { waits_for: child.id }, now, step), child };
  }
  const saved = {
    ...run.context,
    ...(node.saveAs !== undefined && { [node.saveAs]: { runId: toId('run', child.id) } }),
  };
  const change = goOn(run, node.next, now, { context: saved, ...step });
  return !isFinal(after(change).status) ? { change, child } : { change };
}
