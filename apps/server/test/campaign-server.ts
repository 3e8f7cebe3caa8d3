import type { paths } from '@trunkline/client/schema';
import { sql } from 'kysely';
import createClient from 'openapi-fetch';
import { createKey } from '../src/api-keys/first-key.ts';
import { campaignOperations } from '../src/campaigns/operations.ts';
import { campaignDeps } from './campaign-deps.ts';
import { startTestServer } from './server.ts';

/** A whole server whose campaigns nobody dials: what they come to is what the requests made of them. */
export async function startCampaignServer() {
  const { deps, database, connection, clock, close } = await campaignDeps();
  const server = await startTestServer({
    connectionString: connection.connectionString,
    handlers: campaignOperations(deps),
  });
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ id: string }>`update workspaces set dialing_paused_at = now() returning id`.execute(db),
  );
  const clientOf = async (workspace: string, permissions: string[]) => {
    const apiKey = await createKey(database, clock, { workspace, name: 'Test', permissions });
    return createClient<paths>({ baseUrl: server.url, headers: { 'X-API-Key': apiKey } });
  };
  return {
    server,
    client: server.client,
    clientOf,
    database,
    deps,
    clock,
    workspaceId: rows[0]!.id,
    stop: async () => {
      await server.stop();
      await close();
    },
  };
}
