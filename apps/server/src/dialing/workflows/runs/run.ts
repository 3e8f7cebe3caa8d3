import type { Row, RunStatus, StepStatus } from '../../../foundation/database/schema.ts';

/** A run's row. */
export type RunRow = Row<'workflow_runs'>;

/** The states that a run can move to, as the contract's `x-transitions` show them. */
export const runTransitions = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['waiting_call', 'waiting_schedule', 'waiting_automation', 'blocked', 'completed', 'failed', 'cancelled'],
  waiting_call: ['running', 'failed', 'cancelled'],
  waiting_schedule: ['running', 'failed', 'cancelled'],
  waiting_automation: ['running', 'failed', 'cancelled'],
  blocked: ['running', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>;

/** The states that a step can move to. */
export const stepTransitions = {
  running: ['waiting', 'completed', 'failed', 'cancelled'],
  waiting: ['running', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<StepStatus, readonly StepStatus[]>;

/** Whether nothing more happens to a run. */
export const isFinal = (status: RunStatus): boolean => runTransitions[status].length === 0;

/** Whether a run has begun, and no server is to move it on before something else has happened. */
export const isWaiting = (status: RunStatus): boolean =>
  status !== 'queued' && status !== 'running' && !isFinal(status);

/** Whether a row may move from one state to another, or stay where it is. */
export const mayMove = <State extends string>(
  transitions: Readonly<Record<State, readonly State[]>>,
  before: State,
  to: State,
): boolean => before === to || transitions[before].includes(to);
