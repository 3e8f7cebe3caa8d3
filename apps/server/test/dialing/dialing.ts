import { sql } from 'kysely';
import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import { createDialer, type Dialer } from '../../src/campaigns/dialer.ts';
import type { Database } from '../../src/database/database.ts';
import { type Lease, openLease } from '../../src/database/lease.ts';
import { newUuid } from '../../src/ids.ts';
import type { TelephonyGateway } from '../../src/telephony/gateway.ts';
import type { Faults } from '../../src/telephony/simulator/faults.ts';
import type { Profile } from '../../src/telephony/simulator/plan.ts';
import { createSimulator, type Simulator } from '../../src/telephony/simulator/simulator.ts';
import { postgresStore } from '../../src/telephony/simulator/store.ts';
import { realTime, type SimulatorTime } from '../../src/telephony/simulator/time.ts';
import { until } from '../until.ts';

/** The simulator's seed in all tests of dialing. */
export const SEED = 'test';

export interface SeededCampaign {
  workspaceId: string;
  campaignId: string;
  listId: string;
  uploadId: string;
}

export interface SeedOptions {
  contacts: number;
  /** E.164 digits of contact i, from 0. Default: 14152000000 + i. */
  number?: (i: number) => number;
  timezone?: (i: number) => string | null;
  campaign?: Record<string, unknown>;
  workspaceId?: string;
  workspace?: Record<string, unknown>;
  phoneNumber?: Record<string, unknown>;
}

/** A running campaign over a list of contacts, written straight into the database, its contacts still to be added. */
export async function seedCampaign(database: Database, options: SeedOptions): Promise<SeededCampaign> {
  const { contacts, number = (i) => 14_152_000_000 + i, timezone = () => null } = options;
  const workspaceId = options.workspaceId ?? newUuid();
  const [campaignId, listId, uploadId, phoneNumberId] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const now = new Date();
  const stamps = { created_at: now, updated_at: now };
  const rows = Array.from({ length: contacts }, (_, i) => i);
  await database.inEngine(async ({ db }) => {
    if (!options.workspaceId) {
      await db
        .insertInto('workspaces')
        .values({ id: workspaceId, name: 'Test', ...stamps, ...options.workspace })
        .execute();
    }
    await db
      .insertInto('phone_numbers')
      .values({
        workspace_id: workspaceId,
        id: phoneNumberId,
        phone_number: `+1212${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`,
        country: 'US',
        status: 'active',
        provider: 'simulator',
        ...stamps,
        ...options.phoneNumber,
      })
      .execute();
    await db
      .insertInto('contact_lists')
      .values({
        workspace_id: workspaceId,
        id: listId,
        name: 'List',
        type: 'contacts',
        status: 'ready',
        columns: ['city'],
        ...stamps,
      })
      .execute();
    await db
      .insertInto('contact_list_uploads')
      .values({
        workspace_id: workspaceId,
        id: uploadId,
        list_id: listId,
        file_name: 'list.csv',
        storage_key: uploadId,
        status: 'processed',
        url_expires_at: now,
        ...stamps,
      })
      .execute();
    for (let from = 0; from < contacts; from += 100_000) {
      const part = rows.slice(from, from + 100_000);
      await sql`
        insert into contact_list_entries (workspace_id, upload_id, phone_number, row_number, name, timezone, "values")
        select ${workspaceId}, ${uploadId}, x.phone_number, x.row_number, 'Ada', x.timezone, array['Berlin']
        from unnest(${part.map(number)}::bigint[], ${part.map((i) => i + 2)}::integer[], ${part.map(timezone)}::text[])
          as x (phone_number, row_number, timezone)`.execute(db);
    }
    await db
      .insertInto('campaigns')
      .values({
        workspace_id: workspaceId,
        id: campaignId,
        name: 'Campaign',
        agent_id: 'agent',
        direction: 'outbound',
        phone_number_id: phoneNumberId,
        status: 'running',
        timezone: 'UTC',
        schedule_days: [1, 2, 3, 4, 5, 6, 7],
        max_concurrency: 50,
        retry_policy: [],
        ring_timeout_seconds: 30,
        max_call_seconds: 3600,
        started_at: now,
        adding_uploads: [uploadId],
        ...stamps,
        ...options.campaign,
      })
      .execute();
    await db
      .insertInto('campaign_lists')
      .values({ workspace_id: workspaceId, campaign_id: campaignId, list_id: listId, role: 'contacts' })
      .execute();
  });
  return { workspaceId, campaignId, listId, uploadId };
}

export interface TestDialer {
  dialer: Dialer;
  simulator: Simulator;
  lease: Lease;
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
  gateway?: (simulator: Simulator) => TelephonyGateway;
  log?: Logger;
}

/** Calls that take 0.1 to 0.8 s at speed 10, ring and talk included. */
export const shortCalls: Profile = {
  weights: { answered: 50, voicemail: 15, busy: 15, no_answer: 10, declined: 5, invalid_number: 5 },
  ringing: [200, 1000],
  talking: [500, 4000],
};

/** A dialer with a simulator of its own, whose calls are kept in the database. */
export async function startTestDialer(database: Database, options: TestDialerOptions = {}): Promise<TestDialer> {
  const { time = realTime, leaseSeconds = 3 } = options;
  const log = options.log ?? pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
  const simulator = createSimulator({
    seed: SEED,
    speed: options.speed ?? Number.POSITIVE_INFINITY,
    store: postgresStore(database),
    time,
    ...(options.profile && { profile: options.profile }),
  });
  Object.assign(simulator.faults, options.faults);
  await simulator.start();
  const lease = await openLease({ database, seconds: leaseSeconds, log });
  const dialer = createDialer({
    database,
    registry: new Registry(),
    lease,
    leaseSeconds,
    clock: time,
    log,
    gateways: new Map<string, TelephonyGateway>([['simulator', options.gateway?.(simulator) ?? simulator]]),
    maxCalls: options.maxCalls ?? 10_000,
    startDue: async () => {},
    runs: { onCallsEnded: async () => {}, onCallsReturned: async () => {} },
    onFinished: async () => {},
  });
  dialer.start();
  return {
    dialer,
    simulator,
    lease,
    stop: async () => {
      await dialer.stop();
      await lease.release();
      await simulator.stop();
    },
  };
}

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
