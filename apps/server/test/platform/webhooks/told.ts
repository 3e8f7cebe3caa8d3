import { type Database, forWorkspace } from '../../../src/foundation/database/database.ts';
import { record } from '../../../src/platform/journal/record.ts';

export const now = new Date('2026-11-20T09:30:00.000Z');

/** Tells of a resource's revision, as its feature would. */
export const tell = (
  database: Database,
  workspaceId: string,
  resourceId: string,
  revision: number,
  type = 'upload.pending',
) =>
  database.inEngine((tx) =>
    record(forWorkspace(tx, workspaceId), { resourceId, revision, type, data: { name: 'Zoë "Z"' }, now }),
  );

/** All of the database, in the order in which they were made. */
export const deliveries = (database: Database) =>
  database.inEngine((tx) => tx.db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute());
