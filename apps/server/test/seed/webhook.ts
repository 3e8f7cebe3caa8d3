import type { Database } from '../../src/foundation/database/database.ts';
import { type Given, seedRow } from './rows.ts';

/** An endpoint that is told of some types, written straight into the database. Answers its UUID. */
export const seedWebhook = async (
  database: Database,
  workspaceId: string,
  types: string[],
  given: Given<'webhooks'> = {},
): Promise<string> =>
  (await seedRow(database, 'webhooks', { workspace_id: workspaceId, event_types: types as never, ...given })).id;
