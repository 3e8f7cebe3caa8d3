import type { Generated, JSONColumnType } from 'kysely';

interface WorkflowsTable {
  workspace_id: string;
  id: string;
  name: string;
  draft: JSONColumnType<object>;
  draft_revision: Generated<number>;
  version: number | null;
  published_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface WorkflowVersionsTable {
  workspace_id: string;
  workflow_id: string;
  version: number;
  definition: JSONColumnType<object>;
  created_at: Date;
}

/** The tables of workflow definitions. */
export interface WorkflowTables {
  workflows: WorkflowsTable;
  workflow_versions: WorkflowVersionsTable;
}
