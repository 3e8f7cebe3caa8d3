import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { type ErrorDetail, ServiceError } from '../../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../../platform/journal/record.ts';
import type { WorkflowDeps } from '../deps.ts';
import { checkDefinition, inNodeOrder } from './check-definition.ts';
import { checkAgents, checkResources } from './check-resources.ts';
import type { VersionRow } from './shape-workflow.ts';
import { lockWorkflow, readWorkflow } from './workflow-store.ts';

const MAX_TRIES = 5;

/**
 * Makes the draft the next version, which new runs take; one that equals the latest version makes none. Throws
 * `not_found`, `invalid_request` with every fault of the draft, and `unavailable` where the agent directory can't be
 * asked or the draft is changed all the while.
 */
export async function publishWorkflow(
  { database, agents, clock }: WorkflowDeps,
  workspaceId: string,
  workflowId: string,
  auditEntry: AuditEntry,
): Promise<VersionRow> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { draft, draft_revision: revision } = await database.inWorkspace(workspaceId, (tx) =>
      readWorkflow(tx, workflowId),
    );
    const found = [...checkDefinition(draft), ...(await checkAgents(agents, workspaceId, draft))];
    const published = await database.inWorkspace(workspaceId, async (tx) => {
      const workflow = await lockWorkflow(tx, workflowId);
      // What was checked is no longer the draft.
      if (workflow.draft_revision !== revision) return undefined;
      const faults = inNodeOrder([...found, ...(await checkResources(tx, workflowId, draft))]);
      if (faults.length > 0) throw refusal(faults);
      return (await unchanged(tx, workflowId)) ?? (await addVersion(tx, workflowId, clock.now(), auditEntry));
    });
    if (published) return published;
  }
  throw new ServiceError('unavailable', 'The draft is changed all the while. Try again in a moment.');
}

const MAX_DETAILS = 1000;

function refusal(faults: ErrorDetail[]): ServiceError {
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return new ServiceError('invalid_request', `The draft has ${count}. See details.`, {
    details: faults.slice(0, MAX_DETAILS),
  });
}

/** The latest version, if it equals the draft. The caller holds the workflow's row. */
async function unchanged(tx: WorkspaceTx, workflowId: string): Promise<VersionRow | undefined> {
  const { rows } = await sql<VersionRow>`
    select v.workflow_id, v.version, v.definition, v.created_at from workflows w
    join workflow_versions v
      on v.workspace_id = w.workspace_id and v.workflow_id = w.id and v.version = w.version
    where w.workspace_id = ${tx.workspaceId} and w.id = ${workflowId} and v.definition::jsonb = w.draft::jsonb`.execute(
    tx.db,
  );
  return rows[0];
}

async function addVersion(tx: WorkspaceTx, workflowId: string, now: Date, auditEntry: AuditEntry): Promise<VersionRow> {
  await sql`
    update workflows set version = coalesce(version, 0) + 1, published_at = ${now}, updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and id = ${workflowId}`.execute(tx.db);
  const { rows } = await sql<VersionRow>`
    insert into workflow_versions (workspace_id, workflow_id, version, definition, created_at)
    select workspace_id, id, version, draft, ${now} from workflows
    where workspace_id = ${tx.workspaceId} and id = ${workflowId}
    returning workflow_id, version, definition, created_at`.execute(tx.db);
  await audit(tx, auditEntry, now);
  return rows[0]!;
}
