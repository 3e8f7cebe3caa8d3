import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { createMetrics } from '../../../src/foundation/http/metrics.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { openJobs } from '../../../src/platform/jobs/jobs.ts';
import { registerQueueMetrics } from '../../../src/platform/metrics/queues.ts';
import { registerTrunkMetrics } from '../../../src/platform/metrics/trunks.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { insertRows, seedRow } from '../../seed/rows.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { seedWorkspace } from '../../seed/workspace.ts';

const log = pino({ level: 'silent' });
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** What a registry's metric reads, by its labels' values. */
async function readingOf(registry: Registry, name: string): Promise<Record<string, number>> {
  const { values } = await registry.getSingleMetric(name)!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

test('each queue tells for how long its first has been due; what is not due yet, or rests, counts for nothing', () =>
  withDatabase(async (database) => {
    const jobs = await openJobs({ connection: database.connection, connections: 1, log, registry: new Registry() });
    await jobs.work({ queue: 'read-document', concurrency: 1, run: async () => undefined });
    await jobs.quit();
    const workspaceId = await seedWorkspace(database);
    const workspace = { workspace_id: workspaceId };
    await database.inEngine(async (tx) => {
      await jobs.enqueue(tx, 'read-document', { workspaceId });
      await sql`update pgboss.job set start_after = ${ago(40)} where name = 'read-document'`.execute(tx.db);
      const runs = [{ due_at: ago(20) }, { due_at: ago(-90) }].map((due) => ({ ...workspace, ...due }));
      await insertRows(tx.db, 'workflow_runs', runs);
    });
    const [resting, busy] = [
      await seedWebhook(database, workspaceId, ['call.ended'], { resting_until: ago(-60) }),
      await seedWebhook(database, workspaceId, ['call.ended']),
    ];
    for (const [webhook_id, seconds] of [
      [resting, 900],
      [busy, 30],
    ] as const)
      await seedRow(database, 'webhook_deliveries', { ...workspace, webhook_id, next_attempt_at: ago(seconds) });

    const registry = new Registry();
    registerQueueMetrics(registry, database, systemClock);
    const ages = await readingOf(registry, 'trunkline_queue_oldest_seconds');
    expect(Object.keys(ages).sort()).toEqual([
      'calls',
      'campaigns',
      'read-document',
      'webhook_deliveries',
      'workflow_runs',
    ]);
    const about = (seconds: number) => expect.toSatisfy((age: number) => age >= seconds && age < seconds + 30);
    expect(ages).toEqual({
      ...{ calls: 0, campaigns: 0, 'read-document': about(40) },
      ...{ webhook_deliveries: about(30), workflow_runs: about(20) },
    });
    await jobs.close();
  }));

test('a campaign that is due counts from when it was seen so, and anew once somebody has served it', () =>
  withDatabase(async (database) => {
    const jobs = await openJobs({ connection: database.connection, connections: 1, log, registry: new Registry() });
    const { campaignId } = await seedCampaign(database, { contacts: 0 });
    const registry = new Registry();
    registerQueueMetrics(registry, database, systemClock);
    const age = async () => (await readingOf(registry, 'trunkline_queue_oldest_seconds'))['campaigns'];
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      expect(await age()).toBe(0);
      vi.advanceTimersByTime(4000);
      expect(await age()).toBe(0);
      vi.advanceTimersByTime(3000);
      expect(await age()).toBe(7);
      vi.advanceTimersByTime(6000);
      await database.inEngine(({ db }) => sql`update campaigns set in_flight = 0 where id = ${campaignId}`.execute(db));
      expect(await age()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    await jobs.close();
  }));

test('a metric whose database does not answer has no value, and keeps no other from being read', () =>
  withDatabase(async (database) => {
    const away = { inEngine: () => Promise.reject(new Error('away')) } as unknown as Database;
    const registry = new Registry();
    registerQueueMetrics(registry, away, systemClock);
    registerTrunkMetrics(registry, away, systemClock);
    const text = await registry.metrics();
    expect(text).toMatch(/^trunkline_trunks_full Nan$/m);
    expect(text).not.toMatch(/^trunkline_queue_oldest_seconds\{/m);
    expect(database.faults()).toEqual([]);
  }));

test('trunks are counted by status and reason, with the calls over them, and read from the database now and then', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const full = await seedTrunk(database, workspaceId, { max_channels: 1 });
    const slowed = await seedTrunk(database, workspaceId);
    await seedTrunk(database, workspaceId, { status: 'paused', reason: 'unreachable' });
    await seedTrunk(database, workspaceId, { status: 'paused', reason: 'requested' });
    await database.inEngine(async ({ db }) => {
      await sql`update trunk_health set slowed_since = ${ago(1)}, slowed_until = ${ago(-60)} where trunk_id = ${slowed}`.execute(
        db,
      );
      const live = { workspace_id: workspaceId, trunk_id: full, server_id: newUuid(), to_number: 14155550100 };
      await insertRows(db, 'calls', [
        live,
        { ...live, to_number: 14155550101, ended_at: ago(1), status: 'failed', outcome: 'busy' },
      ]);
    });
    const registry = new Registry();
    registerTrunkMetrics(registry, database, systemClock);
    expect(await readingOf(registry, 'trunkline_trunks')).toEqual({
      ...{ 'active ': 1, 'slowed ': 1, 'paused unreachable': 1, 'paused requested': 1 },
    });
    expect(await readingOf(registry, 'trunkline_trunks_full')).toEqual({ '': 1 });
    expect(await readingOf(registry, 'trunkline_trunk_channels_used')).toEqual({ '': 1 });
    await seedTrunk(database, workspaceId);
    expect((await readingOf(registry, 'trunkline_trunks'))['active ']).toBe(1);
  }));

test('what is measured of the process is measured once, however many servers it has', () => {
  const name = 'nodejs_eventloop_lag_seconds';
  const [one, other] = [createMetrics(), createMetrics()].map(({ registry }) => registry.getSingleMetric(name));
  expect(one).toBeDefined();
  expect(other).toBe(one);
});
