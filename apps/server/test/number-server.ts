import { randomBytes } from 'node:crypto';
import type { paths } from '@trunkline/client/schema';
import createClient from 'openapi-fetch';
import { pino } from 'pino';
import { anyAgent } from '../src/agents/directory.ts';
import { createKey } from '../src/api-keys/first-key.ts';
import { openDatabase } from '../src/database/database.ts';
import { createSecrets } from '../src/database/secrets.ts';
import { doNotCallOperations } from '../src/do-not-call/operations.ts';
import type { PhoneNumberDeps } from '../src/phone-numbers/deps.ts';
import { phoneNumberOperations } from '../src/phone-numbers/operations.ts';
import { memoryStore } from '../src/telephony/simulator/memory-store.ts';
import { createSimulator } from '../src/telephony/simulator/simulator.ts';
import { workspaceOperations } from '../src/workspace/operations.ts';
import { freshDatabase } from './database.ts';
import { startTestServer, testClock } from './server.ts';

/** Whatever the providers of a test say, on top of a simulator. */
export const simulatedProvider = (seed = 'numbers') =>
  createSimulator({ seed, speed: Number.POSITIVE_INFINITY, store: memoryStore() });

/** A server whose phone numbers, workspace and do-not-call list have providers, agents and waits of the test's own. */
export async function startNumberServer(given: Partial<PhoneNumberDeps> = {}) {
  const fresh = await freshDatabase();
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) });
  const database = openDatabase({ connection: fresh.connection, poolSize: 25, log });
  const clock = testClock();
  const secrets = createSecrets(randomBytes(32));
  const deps: PhoneNumberDeps = {
    database,
    clock,
    log,
    secrets,
    agents: anyAgent,
    gateways: [simulatedProvider()],
    ...given,
  };
  const hoursChanged: string[] = [];
  const workspaceDeps = {
    database,
    clock,
    secrets,
    onHoursChanged: async (tx: { workspaceId: string }) => {
      hoursChanged.push(tx.workspaceId);
    },
  };
  const server = await startTestServer({
    connectionString: fresh.connection.connectionString,
    handlers: {
      ...phoneNumberOperations(deps),
      ...workspaceOperations(workspaceDeps),
      ...doNotCallOperations({ database, clock }),
    },
  });
  const clientOf = (apiKey: string) => createClient<paths>({ baseUrl: server.url, headers: { 'X-API-Key': apiKey } });
  return {
    ...server,
    deps,
    clock,
    logged,
    hoursChanged,
    clientOf,
    /** A client of another workspace, or one that may do less. */
    clientWith: async (permissions: string[], workspace = 'Default') =>
      clientOf(await createKey(database, clock, { workspace, name: 'test', permissions })),
    stop: async () => {
      await server.stop();
      await database.close();
      await fresh.drop();
    },
  };
}

export type NumberServer = Awaited<ReturnType<typeof startNumberServer>>;
