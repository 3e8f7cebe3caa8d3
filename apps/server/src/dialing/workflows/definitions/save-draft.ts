import { sql } from 'kysely';
import { type Made, makeOnce } from '../../../foundation/database/idempotency-keys.ts';
import { checkEdition } from '../../../foundation/values/edition.ts';
import { newUuid, toId } from '../../../foundation/values/ids.ts';
import { refuse, ServiceError } from '../../../foundation/values/service-error.ts';
import type { AuditOf } from '../../../platform/journal/audit-of.ts';
import { audit } from '../../../platform/journal/record.ts';
import type { WorkflowDeps } from '../deps.ts';
import type { Definition } from './definition.ts';
import type { WorkflowRow } from './shape-workflow.ts';
import { lockWorkflow, readWorkflow } from './workflow-store.ts';

/** Versions are kept in memory by the run engine, and listed by the hundred. */
const MAX_BYTES = 262_144;

/** A definition as JSON. Throws `invalid_request` for one over 256 KiB. */
function asJson(definition: Definition): string {
  const json = JSON.stringify(definition);
  const message = `must be at most ${MAX_BYTES / 1024} KiB as JSON`;
  if (Buffer.byteLength(json) > MAX_BYTES) refuse([{ path: '/body', message }]);
  return json;
}

type Workflow = WorkflowRow & { draft: Definition };

/**
 * Keeps a definition as the draft of a new workflow. Whether it makes sense is told when it is published.
 * Throws `idempotency_key_reused`.
 */
export async function createWorkflow(
  { database, clock }: WorkflowDeps,
  workspaceId: string,
  definition: Definition,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<Workflow>> {
  const draft = asJson(definition);
  const id = newUuid();
  const now = clock.now();
  const named = idempotencyKey
    ? { operation: 'createWorkflow', key: idempotencyKey, request: definition, resourceId: id, now }
    : undefined;
  return database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      await tx.db
        .insertInto('workflows')
        .values({ workspace_id: workspaceId, id, name: definition.name, draft, created_at: now, updated_at: now })
        .execute();
      await audit(tx, auditOf('workflow.created', 'workflow', toId('wf', id)), now);
      return readWorkflow(tx, id);
    };
    return makeOnce(tx, named, make, (made) => readWorkflow(tx, made));
  });
}

/**
 * Takes a definition as the new draft. Throws `not_found`, `changed_meanwhile`, and `invalid_state` where the draft has another revision than
 * `draftRevision`, if that is given.
 */
export async function replaceDraft(
  { database, clock }: WorkflowDeps,
  workspaceId: string,
  workflowId: string,
  { draftRevision, ...definition }: Definition & { draftRevision?: number },
  auditOf: AuditOf,
  ifMatch?: string,
): Promise<Workflow> {
  const draft = asJson(definition);
  return database.inWorkspace(workspaceId, async (tx) => {
    const { draft_revision: revision } = await lockWorkflow(tx, workflowId);
    checkEdition({ edition: revision }, ifMatch);
    if (draftRevision !== undefined && draftRevision !== revision) {
      const message = `The draft has revision ${revision} by now. Read it again, and repeat the change.`;
      throw new ServiceError('invalid_state', message);
    }
    const now = clock.now();
    await sql`
      update workflows set name = ${definition.name}, draft = ${draft}, draft_revision = draft_revision + 1,
        updated_at = ${now}
      where workspace_id = ${workspaceId} and id = ${workflowId}`.execute(tx.db);
    await audit(tx, auditOf('workflow.updated', 'workflow', toId('wf', workflowId)), now);
    return readWorkflow(tx, workflowId);
  });
}
