import type { RunError, RunStatus, StepStatus } from '../../../foundation/database/schema.ts';
import { contextFault } from './context-limits.ts';
import type { Flow } from './flows.ts';
import { isFinal, isWaiting, mayMove, type RunRow, runTransitions, stepTransitions } from './run.ts';

/** Most steps that a run takes (workflows.md, "The definition"). */
export const MAX_STEPS = 10_000;
const LONGEST_MESSAGE = 2048;

/** The row of a step. What is left out keeps its value. */
export interface StepWrite {
  step: number;
  node_id: string;
  status: StepStatus;
  next_node_id?: string;
  room_id?: string;
  child_run_id?: string;
  error?: RunError;
  /** What is to be known of a step that went well. */
  note?: string;
}

/** What is committed of a run in one transaction. */
export interface Change {
  /** The run as this server holds it. Nothing is written where its row has another revision or holder. */
  before: RunRow;
  /** What it comes to, one after another. Each has its own revision, and an event where the status is new. */
  states: readonly RunRow[];
  steps: readonly StepWrite[];
  now: Date;
  /** What the run follows: its events name the node by title. Whoever holds the run adds it. */
  flow?: Flow;
}

/** What else a step's row says than that it is over, or waits. */
type StepDetails = Omit<StepWrite, 'step' | 'node_id' | 'status'>;

/** The run after a change. */
export const after = ({ states }: Change): RunRow => states.at(-1)!;

/** What a run comes to in a change, but for states that only go on with its status. */
export const newStatuses = ({ before, states }: Change): RunRow[] =>
  states.filter(({ status }, at) => status !== (states[at - 1] ?? before).status);

/** A change of a run and the next one, as one commit. */
export const together = (first: Change, second: Change): Change => ({
  ...first,
  states: [...first.states, ...second.states],
  steps: [...first.steps, ...second.steps],
});

/** The step of a run that waits, waits with it; any other runs. */
function stepOf(run: RunRow, status: StepStatus, details: StepDetails = {}): StepWrite[] {
  const before = isWaiting(run.status) ? 'waiting' : 'running';
  if (!mayMove(stepTransitions, before, status)) throw new Error(`A step can not move from ${before} to ${status}.`);
  return [{ step: run.step, node_id: run.node_id, status, ...details }];
}

type Fields = Partial<RunRow>;

/** What belongs to a wait that is over. */
const noWait = {
  waits_for: null,
  error: null,
  wake_at: null,
  blocked_since: null,
  looked_at: null,
  checks: 0,
  due_at: null,
} satisfies Fields;

function moved(run: RunRow, status: RunStatus, fields: Fields, now: Date): RunRow {
  if (!mayMove(runTransitions, run.status, status))
    throw new Error(`A run can not move from ${run.status} to ${status}.`);
  return { ...run, ...noWait, ...fields, status, revision: run.revision + 1, updated_at: now };
}

/** A run that was queued or waited runs before it comes to anything else. */
function states(run: RunRow, status: RunStatus, fields: Fields, now: Date): RunRow[] {
  if (mayMove(runTransitions, run.status, status)) return [moved(run, status, fields, now)];
  const running = moved(run, 'running', {}, now);
  return [running, moved(running, status, fields, now)];
}

/** A run as it is once it is cancelled. */
export const cancel = (run: RunRow, now: Date): RunRow =>
  moved(run, 'cancelled', { ended_at: now, server_id: null }, now);

/** A run goes on with another node, its step done. Fails where its context or its steps are too many. */
export function goOn(
  run: RunRow,
  nextNodeId: string,
  now: Date,
  { context, ...details }: { context?: Record<string, unknown> } & StepDetails = {},
): Change {
  const fault = context && contextFault(context);
  if (fault) return fail(run, fault, now);
  if (run.step >= MAX_STEPS) {
    return fail(run, { code: 'too_many_steps', message: `A run takes at most ${MAX_STEPS} steps.` }, now);
  }
  const fields = { node_id: nextNodeId, step: run.step + 1, tries: 0, ...(context && { context }) };
  return {
    before: run,
    states: [moved(run, 'running', fields, now)],
    steps: stepOf(run, 'completed', { next_node_id: nextNodeId, ...details }),
    now,
  };
}

/** A run stays at its node, and lets go of its server until `fields` say when it is due, or a signal comes. */
export function waitAs(
  run: RunRow,
  status: 'waiting_call' | 'waiting_schedule' | 'waiting_automation' | 'blocked',
  fields: Fields,
  now: Date,
  details: StepDetails = {},
): Change {
  const waiting = states(run, status, { ...fields, server_id: null }, now);
  return { before: run, states: waiting, steps: stepOf(run, 'waiting', details), now };
}

/** A run carries out its node again, now or when `fields` say. */
export const tryAgain = (run: RunRow, fields: Fields, now: Date): Change => ({
  before: run,
  states: [moved(run, 'running', fields, now)],
  steps: stepOf(run, 'running'),
  now,
});

/** A run ends as its `end` node says. */
export const end = (
  run: RunRow,
  status: 'completed' | 'failed',
  fields: Pick<Fields, 'output' | 'error'>,
  now: Date,
): Change => ({
  before: run,
  states: states(run, status, { ...fields, ended_at: now, server_id: null }, now),
  steps: stepOf(run, 'completed'),
  now,
});

/** A run fails at its node. */
export function fail(run: RunRow, { code, message }: RunError, now: Date, details: StepDetails = {}): Change {
  const text = message.slice(0, LONGEST_MESSAGE).replace(/\0|\p{Surrogate}/gu, '');
  const error = { code, message: text, nodeId: run.node_id };
  return {
    before: run,
    states: states(run, 'failed', { error, ended_at: now, server_id: null }, now),
    steps: stepOf(run, 'failed', { error, ...details }),
    now,
  };
}

/** A step's fault leads to the node for that, where there is one; else the run fails. */
export const goWrong = (
  run: RunRow,
  onError: string | undefined,
  error: RunError,
  now: Date,
  { context, ...details }: { context?: Record<string, unknown> } & StepDetails = {},
): Change => {
  if (onError === undefined) return fail(run, error, now, details);
  const change = goOn(run, onError, now, { ...(context && { context }), ...details });
  if (isFinal(after(change).status)) return change;
  return {
    ...change,
    steps: stepOf(run, 'failed', { ...details, next_node_id: onError, error: { ...error, nodeId: run.node_id } }),
  };
};
