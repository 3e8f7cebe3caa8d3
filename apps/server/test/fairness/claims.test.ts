import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { CallToPlace } from '../../src/dialing/calls/place-calls.ts';
import { type ClaimingOptions, createClaiming } from '../../src/dialing/campaigns/claiming.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { openLease } from '../../src/foundation/database/lease.ts';
import { systemClock } from '../../src/foundation/values/clock.ts';
import { ServiceError } from '../../src/foundation/values/service-error.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { until } from '../until.ts';

const CAMPAIGNS = 100;

/** Loops of campaigns that claim nothing. */
async function loopsOf(database: Database, startDue: ClaimingOptions['startDue'] = async () => undefined) {
  const log = pino({ level: 'silent' });
  const lease = await openLease({ database, seconds: 30, log });
  const claiming = createClaiming({
    ...{ database, lease, log, startDue },
    clock: systemClock,
    switchboard: { place: () => undefined, free: () => 0, isSimulated: () => true, mayPlace: async () => true },
    operator: noOperatorLimits,
    onPaused: async () => {},
    onFinished: async () => undefined,
  });
  claiming.start();
  return async () => {
    await claiming.stop();
    await lease.release();
  };
}

test('campaigns of one workspace whose contacts take long to be added hold up those of no other', () =>
  withDatabase(async (database) => {
    const [noisy, quiet] = [await seedWorkspace(database), await seedWorkspace(database)];
    const other = await database.pool.connect();
    for (let at = 0; at < 25; at += 1) {
      const { campaignId } = await seedCampaign(database, { contacts: 1, workspaceId: noisy });
      // Another server is at it.
      await other.query('select pg_advisory_lock(hashtextextended($1, 0))', [campaignId]);
    }
    const { campaignId } = await seedCampaign(database, { contacts: 1, workspaceId: quiet });
    const stop = await loopsOf(database);
    await until(async () => {
      const { rows } = await database.inEngine(({ db }) =>
        sql<{ id: string }>`select id from campaigns where contacts_added`.execute(db),
      );
      return rows.length === 1 && rows[0]!.id === campaignId;
    });
    await stop();
    other.release(true);
  }));

test('campaigns of one workspace whose agents can not be asked for keep those of no other from starting', () =>
  withDatabase(async (database) => {
    const [noisy, quiet] = [await seedWorkspace(database), await seedWorkspace(database)];
    const scheduled = { contacts: 1, campaign: { status: 'scheduled', scheduled_at: new Date(0) } } as const;
    for (let at = 0; at < 25; at += 1) await seedCampaign(database, { ...scheduled, workspaceId: noisy });
    await seedCampaign(database, { ...scheduled, workspaceId: quiet });
    let hasStarted = false;
    const stop = await loopsOf(database, async (_, { workspaceId }) => {
      if (workspaceId === noisy) throw new ServiceError('unavailable', 'The directory of agents is silent.');
      hasStarted = true;
    });
    await until(() => hasStarted);
    await stop();
  }));

test('campaigns whose agents are slow to be found keep those of other workspaces from starting as little', () =>
  withDatabase(async (database) => {
    const scheduled = { contacts: 1, campaign: { status: 'scheduled', scheduled_at: new Date(0) } } as const;
    for (let at = 0; at < 9; at += 1)
      for (const workspaceId of Array(3).fill(await seedWorkspace(database)))
        await seedCampaign(database, { ...scheduled, workspaceId });
    const quiet = await seedWorkspace(database);
    await seedCampaign(database, { ...scheduled, workspaceId: quiet });
    let begin = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stop = await loopsOf(database, async (_, { workspaceId }) => {
      if (workspaceId === quiet) begin();
      await hasStarted;
    });
    await hasStarted;
    await stop();
  }));

test('a server that stops starts no more campaigns', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const scheduled = { contacts: 1, campaign: { status: 'scheduled', scheduled_at: new Date(0) } } as const;
    for (let at = 0; at < 5; at += 1) await seedCampaign(database, { ...scheduled, workspaceId });
    let stopped: Promise<void> | undefined;
    let begun = 0;
    const stop = await loopsOf(database, async () => {
      begun += 1;
      stopped ??= stop();
    });
    await until(() => stopped !== undefined);
    await stopped;
    expect(begun).toBe(1);
  }));

test('a workspace with a hundred campaigns holds up no claim of another', () =>
  withDatabase(async (database) => {
    const [noisy, quiet] = [await seedWorkspace(database), await seedWorkspace(database)];
    const paused = { contacts: 1, campaign: { status: 'paused' } } as const;
    await seedCampaign(database, { ...paused, workspaceId: quiet, number: () => 14_153_000_000 });
    for (let at = 0; at < CAMPAIGNS; at += 1)
      await seedCampaign(database, { ...paused, workspaceId: noisy, number: () => 14_152_000_000 + at });
    const run = (workspaceId: string) =>
      database.inEngine(({ db }) =>
        sql`update campaigns set status = 'running', next_claim_at = 'epoch' where workspace_id = ${workspaceId}`.execute(
          db,
        ),
      );
    const log = pino({ level: 'silent' });
    const lease = await openLease({ database, seconds: 30, log });
    const placed: string[] = [];
    const place = (calls: CallToPlace[]) => {
      if (placed.length === 0 && calls.length > 0) void run(quiet);
      placed.push(...calls.map(({ workspaceId }) => workspaceId));
    };
    const claiming = createClaiming({
      ...{ database, lease, log },
      clock: systemClock,
      switchboard: { place, free: () => 100, isSimulated: () => true, mayPlace: async () => true },
      operator: noOperatorLimits,
      startDue: async () => undefined,
      onPaused: async () => {},
      onFinished: async () => undefined,
    });
    claiming.start();
    await until(async () => {
      const { rows } = await database.inEngine(({ db }) =>
        sql`select from campaigns where not contacts_added`.execute(db),
      );
      return rows.length === 0;
    });
    await run(noisy);
    await until(() => expect(placed).toHaveLength(CAMPAIGNS + 1));
    // It became due when the first of the others was claimed.
    expect(placed.indexOf(quiet)).toBeLessThan(0.9 * CAMPAIGNS);
    await claiming.stop();
    await lease.release();
  }));
