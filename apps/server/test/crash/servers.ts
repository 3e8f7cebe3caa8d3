import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Connection } from '../../src/foundation/database/connection.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { chances } from '../chances.ts';
import { callsOf, countersOf, dialedWrongly, providerPeak, recordedPeak } from '../dialing/audit.ts';
import { campaignRow, shortCalls } from '../dialing/dialing.ts';
import { program } from '../program.ts';
import { type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { until } from '../until.ts';

export const SPEED = 10;
export const LEASE_SECONDS = 2;
/** How long the claims of a lost server may lie idle: its lease, the next look for lost leases, and a moment of a slow machine. */
const TAKEN_OVER_MS = (LEASE_SECONDS + LEASE_SECONDS / 3) * 1000 + 10_000;

/** Starts a process that dials. */
export async function startServer({ connectionString }: Connection): Promise<ChildProcess> {
  const entry = await program('dialer-process');
  const child = spawn(process.execPath, [...entry, connectionString, String(SPEED), String(LEASE_SECONDS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('The dialing process did not start.');
    }),
  ]);
  return child;
}

/** Ends a process as a crash does, and waits until it is gone. */
export async function killServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const concurrency = 40;
const seedOptions = (contacts: number): SeedOptions => ({
  contacts,
  campaign: { max_concurrency: concurrency, ring_timeout_seconds: 6, max_call_seconds: 60 },
});

const placedCalls = async (database: Database, campaignId: string) =>
  (await campaignRow(database, campaignId)).attempts;

const untilAttempts = (database: Database, campaignId: string, attempts: number) =>
  until(async () => (await placedCalls(database, campaignId)) >= attempts, 120);

/** What must be true of a campaign, however its servers died. */
async function expectRightCampaign(database: Database, campaignId: string, contacts: number): Promise<void> {
  expect(await dialedWrongly(database)).toEqual([]);
  const { kept, counted } = await countersOf(database, campaignId);
  expect(kept).toEqual(counted);
  expect(kept).toMatchObject({
    total_contacts: contacts,
    pending: 0,
    waiting: 0,
    in_flight: 0,
    skipped: 0,
    done: contacts,
  });
  const calls = await callsOf(database, campaignId);
  const placed = calls.filter((call) => call.placed_at !== null);
  expect(placed).toHaveLength(contacts);
  expect(new Set(placed.map((call) => call.owner_id)).size).toBe(contacts);
  expect(recordedPeak(calls)).toBeLessThanOrEqual(concurrency);
  expect(providerPeak(calls, shortCalls, SPEED)).toBeLessThanOrEqual(concurrency);
  expect(recordedPeak(calls)).toBeGreaterThan(concurrency / 2);
}

const untilOver = (database: Database, campaignId: string, seconds: number) =>
  until(async () => {
    const { status, pending, waiting, in_flight, done } = await campaignRow(database, campaignId);
    expect({ status, pending, waiting, in_flight, done }).toMatchObject({ status: 'completed' });
  }, seconds);

const serversLeft = (database: Database) =>
  database.inEngine(async ({ db }) => (await sql`select from servers`.execute(db)).rows.length);

/** Three servers, two of them killed while calls are up; a new one started or not. */
export async function runCrash(
  database: Database,
  { seed, contacts, restart }: { seed: number; contacts: number; restart: boolean },
): Promise<void> {
  const chance = chances(seed);
  const { campaignId } = await seedCampaign(database, seedOptions(contacts));
  const servers = await Promise.all([1, 2, 3].map(() => startServer(database.connection)));
  try {
    for (const [at, victim] of servers.slice(0, 2).entries()) {
      await untilAttempts(database, campaignId, contacts * (0.1 + 0.3 * at + 0.25 * chance()));
      await sleep(chance() * 50);
      await killServer(victim);
    }
    const lastKill = Date.now();
    if (restart) servers.push(await startServer(database.connection));
    while ((await serversLeft(database)) > servers.length - 2) {
      expect(Date.now() - lastKill, 'ms until the lost servers were given up').toBeLessThan(TAKEN_OVER_MS);
      await sleep(50);
    }
    await untilOver(database, campaignId, 90 + contacts / 50);
    await expectRightCampaign(database, campaignId, contacts);
  } finally {
    await Promise.all(servers.map(killServer));
  }
}

/** Two servers, one of them frozen for longer than its lease, now and then. */
export async function runFreeze(
  database: Database,
  { seed, contacts, freezes }: { seed: number; contacts: number; freezes: number },
): Promise<void> {
  const chance = chances(seed);
  const { campaignId } = await seedCampaign(database, seedOptions(contacts));
  const servers = await Promise.all([1, 2].map(() => startServer(database.connection)));
  try {
    for (let at = 0; at < freezes; at += 1) {
      await untilAttempts(database, campaignId, (contacts * (at + 0.3 * chance() + 0.1)) / (freezes + 1));
      await sleep(chance() * 50);
      const frozen = servers[at % 2]!;
      frozen.kill('SIGSTOP');
      await sleep(LEASE_SECONDS * 1000 + 2500 + chance() * 6000);
      frozen.kill('SIGCONT');
    }
    await untilOver(database, campaignId, 90 + contacts / 50);
    await sleep(500);
    await expectRightCampaign(database, campaignId, contacts);
  } finally {
    await Promise.all(servers.map(killServer));
  }
}
