import type { JournalEvent } from '../../../platform/journal/record.ts';
import type { Flow } from './flows.ts';
import type { RunRow } from './run.ts';
import { shapeRun } from './shape-run.ts';

/**
 * The event of a run that has come to the status that it has now.
 * @param flow what it follows; one that is queued or has ended is at no node
 */
export const runEvent = (run: RunRow, flow?: Flow): JournalEvent & { workspaceId: string } => ({
  workspaceId: run.workspace_id,
  resourceId: run.id,
  revision: run.revision,
  type: `workflow_run.${run.status}`,
  data: shapeRun(run, flow),
  now: run.updated_at,
});
