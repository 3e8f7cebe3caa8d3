import type { paths } from '@trunkline/client/schema';
import { sql } from 'kysely';
import createClient from 'openapi-fetch';
import { pino } from 'pino';
import { createKey } from '../src/api-keys/first-key.ts';
import type { CampaignDeps } from '../src/campaigns/deps.ts';
import { campaignOperations } from '../src/campaigns/operations.ts';
import { openDatabase } from '../src/database/database.ts';
import { openNotifications } from '../src/database/notifications.ts';
import { freshDatabase } from './database.ts';
import { startTestServer, testClock } from './server.ts';

const log = pino({ level: 'silent' });

/** What acts on campaigns need, on a database of its own. Every agent is known but `agent_unknown`. */
export async function campaignDeps() {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log });
  const notifications = openNotifications({ connection: fresh.connection, log });
  const clock = testClock();
  const deps: CampaignDeps = {
    database,
    notifications,
    clock,
    agents: { resolve: async (id) => (id === 'agent_unknown' ? undefined : { id, name: id }) },
    maxConcurrency: 500,
    nudge: () => undefined,
  };
  const close = async () => {
    await notifications.close();
    await database.close();
    await fresh.drop();
  };
  return { ...fresh, deps, database, clock, close };
}

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
