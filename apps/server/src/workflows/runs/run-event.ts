import type { JournalEvent } from '../../journal/record.ts';
import type { RunRow } from './run.ts';
import { shapeRun } from './shape-run.ts';

/** The event of a run that has come to the status that it has now. */
export const runEvent = (run: RunRow): JournalEvent & { workspaceId: string } => ({
  workspaceId: run.workspace_id,
  resourceId: run.id,
  revision: run.revision,
  type: `workflow_run.${run.status}`,
  data: shapeRun(run),
  now: run.updated_at,
});
