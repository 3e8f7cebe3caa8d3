import { type Database, forWorkspace } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';
import { record } from '../../src/journal/record.ts';
import { createEndpointRow } from './webhook-rows.ts';

export const now = new Date('2026-11-20T09:30:00.000Z');

export async function makeWorkspace(database: Database): Promise<string> {
  const id = newUuid();
  const row = { id, name: 'Test', created_at: now, updated_at: now };
  await database.inEngine((tx) => tx.db.insertInto('workspaces').values(row).execute());
  return id;
}

export const makeEndpoint = (database: Database, workspaceId: string, types: string[]): Promise<string> =>
  createEndpointRow(database, workspaceId, { id: newUuid(), types, now });

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
