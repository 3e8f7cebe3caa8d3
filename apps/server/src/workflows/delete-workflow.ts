import { type AuditEntry, audit } from '../journal/record.ts';
import type { WorkflowDeps } from './deps.ts';
import { lockWorkflow } from './workflow-store.ts';

/** Deletes a workflow with its versions. Throws `not_found`. */
export async function deleteWorkflow(
  { database, clock }: WorkflowDeps,
  workspaceId: string,
  workflowId: string,
  actor: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    await lockWorkflow(tx, workflowId);
    await tx.db.deleteFrom('workflows').where('workspace_id', '=', workspaceId).where('id', '=', workflowId).execute();
    await audit(tx, actor, clock.now());
  });
}
