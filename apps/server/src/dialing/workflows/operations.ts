import { listed, pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { deleteWorkflow } from './definitions/delete-workflow.ts';
import { publishWorkflow } from './definitions/publish-workflow.ts';
import { createWorkflow, replaceDraft } from './definitions/save-draft.ts';
import { shapeSummary, shapeVersion, shapeWorkflow, type WorkflowRow } from './definitions/shape-workflow.ts';
import { readWorkflow, versionPage, workflowPage } from './definitions/workflow-store.ts';
import type { WorkflowDeps } from './deps.ts';
import { requireWorkflow } from './runs/run-store.ts';

/** Clients change the draft alone. */
const ofDraft = (row: WorkflowRow) => ({ edition: row.draft_revision });

/** The operations on definitions of the tag "Workflows"; those on runs are in run-operations.ts. */
export function workflowOperations(deps: WorkflowDeps & { jobs: Jobs }) {
  const { database } = deps;
  return {
    listWorkflows: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, workflowPage, shapeSummary)),

    createWorkflow: async ({ body, headers }, context) => {
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createWorkflow(deps, context.workspaceId, body, auditOf(context), key);
      return tagged(replayable(created(shapeWorkflow(made)), replayed), ofDraft(made));
    },

    getWorkflow: async ({ path }, { workspaceId }) => {
      const row = await database.inWorkspace(workspaceId, (tx) => readWorkflow(tx, fromId(path.workflowId)));
      return tagged(ok(shapeWorkflow(row)), ofDraft(row));
    },

    replaceWorkflowDraft: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const workflowId = fromId(path.workflowId);
      const row = await replaceDraft(deps, workspaceId, workflowId, body, auditOf(context), headers['If-Match']);
      return tagged(ok(shapeWorkflow(row)), ofDraft(row));
    },

    deleteWorkflow: async ({ path: { workflowId } }, context) => {
      const auditEntry = auditOf(context)('workflow.deleted', 'workflow', workflowId);
      await deleteWorkflow(deps, context.workspaceId, fromId(workflowId), auditEntry);
      return ok({ id: workflowId, deleted: true });
    },

    publishWorkflow: async ({ path: { workflowId } }, context) => {
      const auditEntry = auditOf(context)('workflow.published', 'workflow', workflowId);
      const row = await publishWorkflow(deps, context.workspaceId, fromId(workflowId), auditEntry);
      return ok(shapeVersion(row));
    },

    listWorkflowVersions: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        const workflowId = fromId(path.workflowId);
        await requireWorkflow(tx, workflowId);
        return versionPage(tx, workflowId, page);
      });
      return ok(pageAnswer(page, found, shapeVersion));
    },
  } satisfies Partial<Handlers>;
}
