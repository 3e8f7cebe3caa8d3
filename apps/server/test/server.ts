import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { sql } from 'kysely';
import { type Logger, pino } from 'pino';
import type { Overrides } from '../src/compose-services.ts';
import { type Config, loadConfig } from '../src/config.ts';
import type { EngineTx } from '../src/foundation/database/database.ts';
import { newKey } from '../src/platform/api-keys/key.ts';
import { wakeLoops } from '../src/platform/jobs/quiet.ts';
import { startServer } from '../src/server.ts';
import { noteStatus } from './contract/statuses.ts';
import { freshDatabase } from './database.ts';
import { testClock } from './test-clock.ts';

export interface TestOverrides extends Overrides {
  config?: Partial<Config>;
  /** Another server's database, to run two on one. Made for this one, and dropped after it, by default. */
  connectionString?: string;
  apiKey?: string;
  /** Has it keep the quiet hours of a new workspace also where calls go over SIP; else tests would call by day alone. */
  keepsDefaultHours?: boolean;
  /** The server then lives by it, and not by the test's clock. */
  machineTime?: () => number;
  log?: Logger;
}

/** For so long after word of a change the loops of a test's server run as often as they can. */
const AWAKE_MS = 500;

/** Has all workspaces call at any hour, as a PATCH with `quietHours: null` does. */
const liftDefaultHours = ({ db }: EngineTx) =>
  sql`update workspaces set quiet_hours_start = null, quiet_hours_end = null, quiet_hours_are_default = false
    where quiet_hours_are_default`.execute(db);

/** A client that sends each request once, and tells errors without their IDs. */
export function testClient(baseUrl: string, apiKey: string) {
  const client = createClient({ baseUrl, apiKey, maxRetries: 0 });
  client.use({ onResponse: ({ response }) => withoutId(response) });
  return client;
}

/** The text of an error without its ID, so that it can be compared with another. */
export const withoutRequestId = (text: string) => text.replace(/"requestId":"\w+",/, '');

/** An error without what leads to it, so that tests can compare it: each has an ID of its own. */
async function withoutId(response: Response): Promise<Response | undefined> {
  if (response.ok || !response.headers.get('Content-Type')?.startsWith('application/json')) return undefined;
  const { requestId: _requestId, docUrl: _docUrl, ...body } = (await response.json()) as Record<string, unknown>;
  return Response.json(body, response);
}

/** Starts a whole server on a database of its own. An answer that breaks the contract is a 500 that says how. */
export async function startTestServer(overrides: TestOverrides = {}) {
  const fresh = overrides.connectionString ? undefined : await freshDatabase();
  const connectionString = overrides.connectionString ?? fresh!.connection.connectionString;
  const apiKey = overrides.apiKey ?? newKey('test');
  const clock = testClock();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-test-data-'));
  const config: Config = {
    ...loadConfig({}),
    port: 0,
    host: '127.0.0.1',
    dataDir,
    databaseUrl: connectionString,
    bootstrapApiKey: apiKey,
    rateLimitPerMinute: 0,
    // Each takes PostgreSQL as long to open as what most tests ask it.
    poolSize: 4,
    ...overrides.config,
  };
  const log = overrides.log ?? pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  const server = await startServer({
    config,
    log,
    ...(!overrides.machineTime && { clock }),
    overrides: {
      validateResponses: 'throw',
      onAnswer: noteStatus,
      simulatorTime: clock,
      // A server whose loops are all awake takes a tenth of a core, and most stand still while their tests ask or wait.
      quiet: { awakeMs: AWAKE_MS, longestBlindMs: 1000 },
      // Many servers and their tests share a process, which is late now and then.
      loopDelay: { worstMs: () => 0, close: () => {} },
      ...overrides,
    },
  });
  clock.onMove(() => wakeLoops(server.database));
  if (config.sipHost && !overrides.keepsDefaultHours) await server.database.inEngine(liftDefaultHours);
  const clientOf = (key: string) => testClient(server.url, key);
  return {
    url: server.url,
    apiKey,
    client: clientOf(apiKey),
    /** A client with another key. */
    clientOf,
    clock,
    database: server.database,
    connectionString,
    dataDir,
    stop: async () => {
      await server.stop();
      await fresh?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Such a server, running. */
export type TestServer = Awaited<ReturnType<typeof startTestServer>>;
