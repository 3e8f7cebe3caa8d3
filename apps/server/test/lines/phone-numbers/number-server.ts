import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { compose } from '../../../src/compose.ts';
import type { Overrides } from '../../../src/compose-services.ts';
import { loadConfig } from '../../../src/config.ts';
import { readNumber } from '../../../src/dialing/calls/may-dial.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { numberKey } from '../../../src/foundation/database/number-digest.ts';
import { listen } from '../../../src/foundation/http/listen.ts';
import { createMachineClock } from '../../../src/foundation/values/clock.ts';
import { numberPoolOperations } from '../../../src/lines/number-pools/operations.ts';
import type { PhoneNumberDeps } from '../../../src/lines/phone-numbers/deps.ts';
import { phoneNumberOperations } from '../../../src/lines/phone-numbers/operations.ts';
import { providerOperations } from '../../../src/lines/providers/operations.ts';
import type { AccountProvider } from '../../../src/lines/telephony/number-market.ts';
import { createSimulator, type Simulator } from '../../../src/lines/telephony/simulator/simulator.ts';
import { trunkOperations } from '../../../src/lines/trunks/operations.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { workspaceOperations } from '../../../src/platform/workspace/operations.ts';
import { noteStatus } from '../../contract/statuses.ts';
import { freshDatabase } from '../../database.ts';
import { testClient } from '../../server.ts';
import { testClock } from '../../test-clock.ts';
import { memoryStore } from '../telephony/memory-store.ts';

/** A provider of a test's own, whose world is its memory. */
export const simulatedProvider = (seed = 'numbers') =>
  createSimulator({ seed, speed: Number.POSITIVE_INFINITY, store: memoryStore() });

const loopback = { networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] };

/** What numbers are known by in witnesses. */
const NUMBER_KEY = numberKey(Buffer.alloc(32));

/** What a test puts in place of a server's own. */
type Given = Partial<PhoneNumberDeps> & { provider?: Simulator; twilio?: AccountProvider };

/**
 * A server with providers, agents and waits of the test's own, of which nothing runs in the background: tests look at
 * due numbers themselves.
 */
export async function startNumberServer({ provider = simulatedProvider(), twilio, ...given }: Given = {}) {
  const fresh = await freshDatabase();
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) });
  const database = openDatabase({ connection: fresh.connection, poolSize: 25, log, numberKey: NUMBER_KEY });
  const clock = testClock();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-test-data-'));
  const overrides: Overrides = {
    validateResponses: 'throw',
    onAnswer: noteStatus,
    carriers: new Map([
      ['simulator', { calls: provider, numbers: provider, trunks: provider }],
      ...(twilio ? [['twilio', { calls: provider, accounts: twilio }] as const] : []),
    ]),
    ...(given.agents && { agents: given.agents }),
  };
  const composition = await compose({
    config: { ...loadConfig({}), dataDir, rateLimitPerMinute: 0, outboundAllowedAddresses: loopback },
    database,
    clock,
    machine: createMachineClock(),
    log,
    publicUrl: 'http://localhost',
    draining: new AbortController().signal,
    notReady: async () => undefined,
    overrides,
  });
  const deps: PhoneNumberDeps = { ...composition.features.phoneNumbers, ...given };
  const { secrets } = deps;
  const hoursChanged: string[] = [];
  const onHoursChanged = async (tx: { workspaceId: string }) => {
    hoursChanged.push(tx.workspaceId);
  };
  overrides.handlers = {
    ...phoneNumberOperations(deps),
    ...numberPoolOperations(deps),
    ...trunkOperations(deps),
    ...providerOperations(deps),
    ...workspaceOperations({
      database,
      clock,
      secrets,
      restoreGuard: composition.services.restoreGuard,
      onHoursChanged,
      isNumber: (number) => readNumber(number) !== undefined,
    }),
  };
  const listening = await listen(0, '127.0.0.1');
  listening.serve(await composition.createApp());
  const url = `http://127.0.0.1:${listening.port}`;
  const keyOf = (workspace: string, permissions: string[]) =>
    createKey(database, clock, { workspace, name: 'test', permissions });
  const clientOf = (apiKey: string) => testClient(url, apiKey);
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
      await composition.stop(listening.close(1000));
      await rm(dataDir, { recursive: true });
      await database.close();
      await fresh.drop();
    },
  };
}

export type NumberServer = Awaited<ReturnType<typeof startNumberServer>>;
