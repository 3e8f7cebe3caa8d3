import type { JSONColumnType } from 'kysely';

interface BatchesTable {
  workspace_id: string;
  /** UUID of its campaign too. */
  id: string;
  rejected: JSONColumnType<object[], string, string>;
  rejected_count: number;
}

export interface BatchTables {
  batches: BatchesTable;
}
