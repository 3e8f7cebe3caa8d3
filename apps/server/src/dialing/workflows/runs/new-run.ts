import type { LatestFlow } from './latest-flows.ts';
import type { RunRow } from './run.ts';

/** What a start or a parent gives a new run. */
export interface RunBeginning {
  id: string;
  concurrencyKey?: string | undefined;
  context: Record<string, unknown>;
  parent?: RunRow;
  /** The server that moves it on at once; without it the run is due for whoever claims it. */
  serverId?: string | undefined;
}

/** A run as it begins: queued, at the first node of the workflow's latest version. */
export const newRun = (workspaceId: string, beginning: RunBeginning, latest: LatestFlow, now: Date): RunRow => ({
  workspace_id: workspaceId,
  id: beginning.id,
  workflow_id: latest.workflowId,
  version: latest.version,
  workflow_name: latest.flow.definition.name,
  status: 'queued',
  concurrency_key: beginning.concurrencyKey ?? null,
  parent_run_id: beginning.parent?.id ?? null,
  parent_step: beginning.parent?.step ?? null,
  depth: (beginning.parent?.depth ?? 0) + 1,
  node_id: latest.flow.definition.startNodeId,
  step: 1,
  tries: 0,
  calls: 0,
  waits_for: null,
  context: beginning.context,
  output: null,
  error: null,
  wake_at: null,
  blocked_since: null,
  looked_at: null,
  checks: 0,
  due_at: beginning.serverId === undefined ? now : null,
  server_id: beginning.serverId ?? null,
  ended_at: null,
  is_erased: null,
  revision: 1,
  created_at: now,
  updated_at: now,
});
