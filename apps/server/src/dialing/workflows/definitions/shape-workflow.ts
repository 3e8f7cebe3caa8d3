import type { Row } from '../../../foundation/database/schema.ts';
import type { components } from '../../../foundation/values/generated/contract.ts';
import { toId } from '../../../foundation/values/ids.ts';
import type { Definition } from './definition.ts';

type Schemas = components['schemas'];

/** A workflow as the database keeps it, without its draft. */
export type WorkflowRow = Pick<Row<'workflows'>, 'id' | 'name' | 'draft_revision' | 'created_at' | 'updated_at'> & {
  version: number | null;
  published_at: Date | null;
};

export type VersionRow = Pick<Row<'workflow_versions'>, 'workflow_id' | 'version' | 'created_at'> & {
  definition: Definition;
};

/** A workflow as a list shows it. */
export const shapeSummary = (row: WorkflowRow): Schemas['WorkflowSummary'] => ({
  id: toId('wf', row.id),
  name: row.name,
  status: row.version === null ? 'draft' : 'published',
  ...(row.version !== null && { version: row.version }),
  draftRevision: row.draft_revision,
  ...(row.published_at && { publishedAt: row.published_at.toISOString() }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const shapeWorkflow = (row: WorkflowRow & { draft: Definition }): Schemas['Workflow'] => ({
  ...shapeSummary(row),
  definition: row.draft,
});

export const shapeVersion = (row: VersionRow): Schemas['WorkflowVersion'] => ({
  workflowId: toId('wf', row.workflow_id),
  version: row.version,
  definition: row.definition,
  createdAt: row.created_at.toISOString(),
});
