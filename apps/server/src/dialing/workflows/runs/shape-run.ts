import type { Row } from '../../../foundation/database/schema.ts';
import type { components } from '../../../foundation/values/generated/contract.ts';
import { toId } from '../../../foundation/values/ids.ts';
import type { Definition } from '../definitions/definition.ts';
import type { Flow } from './flows.ts';
import { isFinal, type RunRow } from './run.ts';

export type WorkflowRun = components['schemas']['WorkflowRun'];
type WorkflowStep = components['schemas']['WorkflowStep'];
export type StepRow = Row<'workflow_run_steps'>;

/**
 * A run as clients see it, without its steps.
 * @param flow what it follows, for the title of the node that it is at; one that is queued or has ended is at none
 */
export function shapeRun(row: RunRow, flow?: Flow): WorkflowRun {
  const isUnderWay = row.status !== 'queued' && !isFinal(row.status);
  const node = flow?.nodes.get(row.node_id);
  return {
    id: toId('run', row.id),
    automationId: toId('wf', row.workflow_id),
    automationName: row.workflow_name,
    version: row.version,
    ...(row.parent_run_id && { parentRunId: toId('run', row.parent_run_id) }),
    ...(row.parent_step !== null && { parentStepId: String(row.parent_step) }),
    ...(isUnderWay && { currentStepId: String(row.step), currentNodeId: row.node_id }),
    ...(isUnderWay && node && { currentNodeTitle: node.title }),
    ...(row.concurrency_key !== null && { concurrencyKey: row.concurrency_key }),
    status: row.status,
    context: row.context,
    ...(row.output && { output: row.output }),
    ...(row.error && { error: row.error }),
    revision: row.revision,
    ...(row.wake_at && { wakeAt: row.wake_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The step of a run as clients see it; titles and types come from the definition of the run's version. */
export function shapeStep(row: StepRow, definition: Definition): WorkflowStep {
  const node = definition.nodes.find(({ id }) => id === row.node_id)!;
  return {
    id: String(row.step),
    nodeId: row.node_id,
    nodeTitle: node.title,
    nodeType: node.type,
    status: row.status,
    ...(row.next_node_id !== null && { nextNodeId: row.next_node_id }),
    ...(row.room_id && { roomId: toId('room', row.room_id) }),
    ...(row.child_run_id && { childRunId: toId('run', row.child_run_id) }),
    ...(row.error && { error: row.error }),
    ...(row.note !== null && { note: row.note }),
    startedAt: row.started_at.toISOString(),
    ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
  };
}
