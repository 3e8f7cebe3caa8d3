import type { Generated, JSONColumnType } from 'kysely';

// The tables of migrations/0009-workflow-runs.ts, as Kysely types them.

type Nullable<T> = T | null;
type Json<T extends object> = JSONColumnType<T, string | undefined, string>;

export type RunStatus =
  | 'queued'
  | 'running'
  | 'waiting_call'
  | 'waiting_schedule'
  | 'waiting_automation'
  | 'blocked'
  | 'completed'
  | 'failed'
  | 'cancelled';

export type StepStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** Why a run or a step failed, or what a blocked run lacks. */
export interface RunError {
  code: string;
  message: string;
  nodeId?: string;
}

interface WorkflowRunsTable {
  workspace_id: string;
  id: string;
  workflow_id: string;
  version: number;
  workflow_name: string;
  status: RunStatus;
  concurrency_key: Nullable<string>;
  parent_run_id: Nullable<string>;
  parent_step: Nullable<number>;
  depth: Generated<number>;
  node_id: string;
  step: Generated<number>;
  tries: Generated<number>;
  calls: Generated<number>;
  waits_for: Nullable<string>;
  context: Json<Record<string, unknown>>;
  output: Nullable<Json<Record<string, unknown>>>;
  error: Nullable<Json<RunError>>;
  wake_at: Nullable<Date>;
  blocked_since: Nullable<Date>;
  checks: Generated<number>;
  due_at: Nullable<Date>;
  server_id: Nullable<string>;
  ended_at: Nullable<Date>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface WorkflowRunStepsTable {
  workspace_id: string;
  run_id: string;
  step: number;
  node_id: string;
  status: StepStatus;
  next_node_id: Nullable<string>;
  room_id: Nullable<string>;
  child_run_id: Nullable<string>;
  error: Nullable<Json<RunError>>;
  started_at: Date;
  ended_at: Nullable<Date>;
}

interface ConcurrencyKeysTable {
  workspace_id: string;
  key: string;
  active_run: Nullable<string>;
  cooldown_minutes: number;
  last_ended_at: Nullable<Date>;
}

interface RunSignalsTable {
  workspace_id: string;
  run_id: string;
  source: string;
  data: Json<object>;
  created_at: Date;
}

/** The tables of workflow runs. */
export interface RunTables {
  workflow_runs: WorkflowRunsTable;
  workflow_run_steps: WorkflowRunStepsTable;
  concurrency_keys: ConcurrencyKeysTable;
  run_signals: RunSignalsTable;
}
