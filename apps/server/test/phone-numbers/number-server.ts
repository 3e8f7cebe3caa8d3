import { randomBytes } from 'node:crypto';
import { createClient } from '@trunkline/client';
import { pino } from 'pino';
import { anyAgent } from '../../src/agents/directory.ts';
import { createKey } from '../../src/api-keys/first-key.ts';
import { createKeyRing } from '../../src/api-keys/key-ring.ts';
import { openDatabase } from '../../src/database/database.ts';
import { createSecrets } from '../../src/database/secrets.ts';
import { doNotCallOperations } from '../../src/do-not-call/operations.ts';
import { createApp, loadContract } from '../../src/http/app.ts';
import { listen } from '../../src/http/listen.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createRateLimit } from '../../src/http/rate-limit.ts';
import { leavePool } from '../../src/number-pools/leave-pool.ts';
import { numberPoolOperations } from '../../src/number-pools/operations.ts';
import { createAddressGuard } from '../../src/outbound-http/address-guard.ts';
import type { PhoneNumberDeps } from '../../src/phone-numbers/deps.ts';
import { phoneNumberOperations } from '../../src/phone-numbers/operations.ts';
import { memoryStore } from '../../src/telephony/simulator/memory-store.ts';
import { createSimulator } from '../../src/telephony/simulator/simulator.ts';
import { workspaceOperations } from '../../src/workspace/operations.ts';
import { noteStatus } from '../contract/statuses.ts';
import { freshDatabase } from '../database.ts';
import { testClock } from '../test-clock.ts';

/** A provider of a test's own, whose world is its memory. */
export const simulatedProvider = (seed = 'numbers') =>
  createSimulator({ seed, speed: Number.POSITIVE_INFINITY, store: memoryStore() });

/**
 * The edge before phone numbers, workspace and do-not-call list alone, with providers, agents and waits of the test's
 * own. Nothing runs in the background: tests look at due numbers themselves.
 */
export async function startNumberServer(given: Partial<PhoneNumberDeps> = {}) {
  const fresh = await freshDatabase();
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) });
  const database = openDatabase({ connection: fresh.connection, poolSize: 25, log });
  const clock = testClock();
  const secrets = createSecrets(randomBytes(32));
  const gateways = [simulatedProvider()];
  const deps: PhoneNumberDeps = {
    database,
    clock,
    log,
    secrets,
    agents: anyAgent,
    guard: createAddressGuard({ networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] }),
    gateways,
    onReleased: leavePool,
    ...given,
  };
  const hoursChanged: string[] = [];
  const onHoursChanged = async (tx: { workspaceId: string }) => {
    hoursChanged.push(tx.workspaceId);
  };
  const keyRing = createKeyRing({ database, clock, log });
  const listening = await listen(0, '127.0.0.1');
  const app = await createApp({
    contract: loadContract(),
    handlers: {
      ...phoneNumberOperations(deps),
      ...numberPoolOperations(deps),
      ...workspaceOperations({ database, clock, secrets, onHoursChanged }),
      ...doNotCallOperations({ database, clock }),
    },
    authenticate: keyRing.authenticate,
    rateLimit: createRateLimit(0),
    metrics: createMetrics(),
    log,
    validateResponses: 'throw',
    trustProxy: false,
    draining: new AbortController().signal,
    notReady: async () => undefined,
    onAnswer: noteStatus,
  });
  listening.serve(app);
  const url = `http://127.0.0.1:${listening.port}`;
  const keyOf = (workspace: string, permissions: string[]) =>
    createKey(database, clock, { workspace, name: 'test', permissions });
  const clientOf = (apiKey: string) => createClient({ baseUrl: url, apiKey, maxRetries: 0 });
  const apiKey = await keyOf('Default', ['*']);
  return {
    url,
    apiKey,
    client: clientOf(apiKey),
    deps,
    clock,
    logged,
    hoursChanged,
    clientOf,
    /** A client of another workspace, or one that may do less. */
    clientWith: async (permissions: string[], workspace = 'Default') => clientOf(await keyOf(workspace, permissions)),
    stop: async () => {
      await listening.close(1000);
      await keyRing.close();
      await database.close();
      await fresh.drop();
    },
  };
}

export type NumberServer = Awaited<ReturnType<typeof startNumberServer>>;
