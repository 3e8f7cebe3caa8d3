import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Logger, pino } from 'pino';
import type { Registry } from 'prom-client';
import { type Composition, compose } from '../../src/compose.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import type { CallOwner } from '../../src/dialing/calls/call-owner.ts';
import type { Switchboard } from '../../src/dialing/calls/switchboard.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import type { Lease } from '../../src/foundation/database/lease.ts';
import { numberKey } from '../../src/foundation/database/number-digest.ts';
import { createMachineClock } from '../../src/foundation/values/clock.ts';
import type { CallGateway } from '../../src/lines/telephony/call-gateway.ts';
import type { Carriers } from '../../src/lines/telephony/carrier.ts';
import type { Faults } from '../../src/lines/telephony/simulator/faults.ts';
import type { Profile } from '../../src/lines/telephony/simulator/plan.ts';
import { createSimulator, type Simulator } from '../../src/lines/telephony/simulator/simulator.ts';
import { postgresStore } from '../../src/lines/telephony/simulator/store.ts';
import { realTime, type SimulatorTime } from '../../src/lines/telephony/simulator/time.ts';
import { wakeLoops } from '../../src/platform/jobs/quiet.ts';
import type { AgentDirectory } from '../../src/voices/agents/directory.ts';
import { seedCampaign } from '../seed/campaign.ts';
import type { TestClock } from '../test-clock.ts';
import { until } from '../until.ts';

/** The simulator's seed in all tests of dialing. */
export const SEED = 'test';

export interface TestDialer {
  switchboard: Switchboard;
  simulator: Simulator;
  lease: Lease;
  metrics: Registry;
  /** Claims nothing more, and gives back what is not placed. */
  stopDialing(): Promise<void>;
  /** Ends it as a server that drains. */
  stop(): Promise<void>;
}

export interface TestDialerOptions {
  /** The business clock, and the one that simulated calls live by. */
  time?: SimulatorTime;
  speed?: number;
  profile?: Profile;
  leaseSeconds?: number;
  maxCalls?: number;
  /** What goes wrong, from the first call on. */
  faults?: Faults;
  /** Puts something between the dialer and the simulator. */
  gateway?: (simulator: Simulator) => CallGateway;
  /** Carriers beside the simulator. */
  carriers?: Carriers;
  /** Owners of calls beside the server's own. */
  owners?: readonly CallOwner[];
  /** Who takes calls that arrive. */
  agents?: AgentDirectory;
  config?: Partial<Config>;
  log?: Logger;
}

/** Calls that take 0.1 to 0.8 s at speed 10, ring and talk included. */
export const shortCalls: Profile = {
  weights: { answered: 50, voicemail: 15, busy: 15, no_answer: 10, declined: 5, invalid_number: 5 },
  ringing: [200, 1000],
  talking: [500, 4000],
};

/** For so long after word of a change the loops of a dialer run as often as they can. */
const AWAKE_MS = 500;

/** What numbers are known by in witnesses. */
const NUMBER_KEY = numberKey(Buffer.alloc(32));

/**
 * A server as `compose` puts it together, but for its HTTP side, on a database that a test has opened and may stand
 * before: with a simulator of its own, whose calls are kept there.
 */
export async function startTestDialer(database: Database, options: TestDialerOptions = {}): Promise<TestDialer> {
  const { time = realTime } = options;
  const log = options.log ?? pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
  const simulator = createSimulator({
    seed: SEED,
    speed: options.speed ?? Number.POSITIVE_INFINITY,
    store: postgresStore(
      database,
      { keepCalls: (...calls) => composition.services.restoreGuard.keepCalls(...calls) },
      { serverId: () => composition.services.lease.serverId() },
    ),
    time,
    ...(options.profile && { profile: options.profile }),
  });
  Object.assign(simulator.faults, options.faults);
  const gateway = options.gateway?.(simulator) ?? simulator;
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-test-data-'));
  // Each tells what it has written itself, as each process with a database of its own does.
  const own = { ...database, onTold: () => {}, numberKey: NUMBER_KEY };
  const composition: Composition = await compose({
    config: {
      ...loadConfig({}),
      dataDir,
      poolSize: 4,
      leaseSeconds: options.leaseSeconds ?? 5,
      maxConcurrency: options.maxCalls ?? 10_000,
      ...options.config,
    },
    database: own,
    clock: time,
    machine: createMachineClock(),
    log,
    publicUrl: 'http://localhost',
    draining: new AbortController().signal,
    notReady: async () => undefined,
    overrides: {
      // Several dialers whose loops are all awake take a machine's time from each other.
      quiet: { awakeMs: AWAKE_MS, longestMs: 1000, longestBlindMs: 1000 },
      carriers: new Map([
        ...['simulator', 'sip'].map((name) => [name, { calls: gateway }] as const),
        ...(options.carriers ?? []),
      ]),
      ...(options.owners && { owners: options.owners }),
      ...(options.agents && { agents: options.agents }),
    },
  });
  if ('onMove' in time) (time as TestClock).onMove(() => wakeLoops(own));
  await composition.start();
  const { switchboard, claiming } = composition.engine;
  return {
    switchboard,
    simulator,
    lease: composition.services.lease,
    metrics: composition.services.metrics.registry,
    stopDialing: async () => {
      await claiming.stop();
      await switchboard.stop();
    },
    stop: async () => {
      await composition.stop(Promise.resolve());
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Waits until the dialers of a database have had their turn: until a campaign that begins now, in a workspace of its
 * own, has called its one contact, whose line is busy. What was due before has been claimed by then.
 */
export async function dialersTurn(database: Database): Promise<void> {
  const { campaignId } = await seedCampaign(database, { contacts: 1, number: () => BUSY });
  await untilCompleted(database, campaignId);
}

/** A callee of the simulator's whose line is always busy. */
const BUSY = 12_005_550_186;

/** Waits until a campaign has completed. */
export const untilCompleted = (database: Database, campaignId: string, seconds?: number): Promise<void> =>
  until(async () => (await campaignRow(database, campaignId)).status === 'completed', seconds);

/** A campaign's contacts by number. */
export async function contactsOf(database: Database, campaignId: string) {
  const rows = await database.inEngine(({ db }) =>
    db
      .selectFrom('campaign_contacts')
      .selectAll()
      .where('campaign_id', '=', campaignId)
      .orderBy('phone_number')
      .execute(),
  );
  return rows;
}

/** The campaign's row. */
export async function campaignRow(database: Database, campaignId: string) {
  return database.inEngine(({ db }) =>
    db.selectFrom('campaigns').selectAll().where('id', '=', campaignId).executeTakeFirstOrThrow(),
  );
}
