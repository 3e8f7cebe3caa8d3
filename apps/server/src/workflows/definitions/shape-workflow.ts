import type { components } from '@trunkline/client/schema';
import { toId } from '../../ids.ts';
import type { Definition } from './definition.ts';

type Schemas = components['schemas'];

/** A workflow as the database keeps it, without its draft. */
export interface WorkflowRow {
  id: string;
  name: string;
  draft_revision: number;
  version: number | null;
  published_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface VersionRow {
  workflow_id: string;
  version: number;
  definition: Definition;
  created_at: Date;
}

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
