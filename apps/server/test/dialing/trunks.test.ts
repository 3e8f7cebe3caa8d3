import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../src/foundation/database/database.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedMembers, seedPool, usePool } from '../seed/pool.ts';
import { seedRow } from '../seed/rows.ts';
import { seedTrunk } from '../seed/trunk.ts';
import { seedWebhook } from '../seed/webhook.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { until } from '../until.ts';
import { callsOf, countersOf, dialedWrongly, mostInASecond, providerPeak, recordedPeak } from './audit.ts';
import { campaignRow, contactsOf, shortCalls, startTestDialer, untilCompleted } from './dialing.ts';

const SPEED = 10;

const trunkRow = async (database: Database, id: string) => {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{
      status: string;
      reason: string | null;
      paused_by_number_id: string;
      paused_by_pool_id: string | null;
      message: string | null;
      slowed_until: Date | null;
    }>`
      select t.*, h.slowed_until from trunks t join trunk_health h on h.trunk_id = t.id where t.id = ${id}`.execute(db),
  );
  return rows[0]!;
};

test.concurrent('two campaigns over one trunk, by a number and by a pool, never pass its channels or its pace', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const trunk_id = await seedTrunk(database, workspaceId, { max_channels: 4, calls_per_second: 20 });
    const campaign = { ring_timeout_seconds: 6, max_call_seconds: 60 };
    const number = { provider: 'sip' as const, trunk_id };
    const alone = await seedCampaign(database, { workspaceId, contacts: 25, campaign, phoneNumber: number });
    const pooled = await seedCampaign(database, {
      ...{ workspaceId, contacts: 25, number: (i) => 14_153_000_000 + i },
      campaign: { ...campaign, status: 'paused' },
    });
    const { poolId } = await seedPool(database, workspaceId, [number, number]);
    await usePool(database, pooled.campaignId, poolId);
    // A call that has arrived takes a channel too.
    const arrived = {
      workspace_id: workspaceId,
      trunk_id,
      direction: 'inbound',
      status: 'in_progress',
      to_number: 1,
    } as const;
    await seedRow(database, 'calls', arrived);
    const dialers = await Promise.all(
      [1, 2].map(() => startTestDialer(database, { speed: SPEED, profile: shortCalls })),
    );
    for (const { campaignId } of [alone, pooled]) await untilCompleted(database, campaignId);
    await Promise.all(dialers.map(({ stop }) => stop()));
    expect(await dialedWrongly(database)).toEqual([]);
    const calls = (await Promise.all([alone, pooled].map(({ campaignId }) => callsOf(database, campaignId)))).flat();
    expect(mostInASecond(calls)).toBeLessThanOrEqual(20);
    expect(recordedPeak(calls)).toBe(3);
    expect(providerPeak(calls, shortCalls, SPEED)).toBeLessThanOrEqual(3);
  }));

test.concurrent('a pool passes over the members of trunks that are full or paused', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const trunk = (given: object) => seedTrunk(database, workspaceId, given);
    const [full, paused, free] = [
      await trunk({ max_channels: 1 }),
      await trunk({ status: 'paused', reason: 'requested' }),
      await trunk({ max_channels: 2 }),
    ];
    const campaign = await seedCampaign(database, { workspaceId, contacts: 5, campaign: { status: 'paused' } });
    const { poolId } = await seedPool(database, workspaceId, []);
    const on = (trunk_id: string, usedAt: number) => ({
      provider: 'sip' as const,
      trunk_id,
      usage: { last_used_at: new Date(usedAt) },
    });
    // Those that were used least recently are on the trunk that is full.
    const members = [...Array.from({ length: 8 }, (_, at) => on(full, at)), on(paused, 9), on(free, 10)];
    const ids = await seedMembers(database, workspaceId, poolId, members);
    await seedRow(database, 'calls', {
      workspace_id: workspaceId,
      trunk_id: full,
      to_number: 1,
      phone_number_id: ids[0]!,
    });
    await usePool(database, campaign.campaignId, poolId);
    const dialer = await startTestDialer(database, {
      speed: SPEED,
      profile: { ...shortCalls, talking: [60_000, 60_000] },
    });
    await until(async () => (await campaignRow(database, campaign.campaignId)).in_flight === 2);
    const { rows } = await database.inEngine(({ db }) =>
      sql<{
        phone_number_id: string;
      }>`select phone_number_id from calls where campaign_id = ${campaign.campaignId}`.execute(db),
    );
    expect(rows.map((row) => row.phone_number_id)).toEqual([ids[9], ids[9]]);
    await dialer.stop();
  }));

test.concurrent('a trunk without room is slowed, and who was called then is called again at no cost', () =>
  withDatabase(async (database) => {
    const { campaignId, workspaceId } = await seedCampaign(database, {
      ...{ contacts: 3, number: (i) => 12_125_550_157 + i * 10_000_000 },
      phoneNumber: { trunk: {} },
    });
    const dialer = await startTestDialer(database);
    await untilCompleted(database, campaignId);
    await dialer.stop();
    const contacts = await contactsOf(database, campaignId);
    expect(contacts.map(({ state, last_outcome }) => [state, last_outcome])).toEqual(
      contacts.map(() => ['done', 'answered']),
    );
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ tries: number; faults: number }>`
        select tries, faults from campaign_contacts where workspace_id = ${workspaceId}`.execute(db),
    );
    expect(rows).toEqual(contacts.map(() => ({ tries: 1, faults: 0 })));
    const calls = await callsOf(database, campaignId);
    // What a machine that stalls was too late to place was an attempt of nobody's.
    const first = calls.filter(({ attempt, outcome }) => attempt === 1 && outcome !== 'cancelled');
    expect(first).not.toEqual([]);
    for (const call of first) expect(call.outcome).toBe('trunk_error');
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent.each([
  ['number_format', 104, 10],
  ['no_media', 156, 3],
  ['forbidden', 154, 1],
] as const)('calls that burn a list pause the trunk: %s', (reason, magic, least) =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    await seedWebhook(database, workspaceId, ['trunk.updated', 'phone_number.updated']);
    const trunk_id = await seedTrunk(database, workspaceId, { calls_per_second: 1000 });
    const campaign = await seedCampaign(database, {
      ...{ workspaceId, contacts: 40, number: (i) => 10_005_550_000 + (201 + i) * 10_000_000 + magic },
      campaign: { status: 'paused', max_concurrency: 1 },
    });
    const { poolId, memberIds } = await seedPool(database, workspaceId, [{ provider: 'sip', trunk_id }]);
    await usePool(database, campaign.campaignId, poolId);
    const dialer = await startTestDialer(database);
    await until(async () => (await trunkRow(database, trunk_id)).status === 'paused');
    await until(async () => (await campaignRow(database, campaign.campaignId)).in_flight === 0);
    await dialer.stop();
    expect(await trunkRow(database, trunk_id)).toMatchObject({
      reason,
      paused_by_number_id: memberIds[0],
      paused_by_pool_id: poolId,
      message: reason === 'forbidden' ? 'Caller ID not allowed' : null,
    });
    const contacts = await contactsOf(database, campaign.campaignId);
    expect(contacts.filter(({ state }) => state === 'done')).toEqual([]);
    expect(contacts.filter(({ state }) => state === 'waiting')).toHaveLength(least);
    const { kept, counted } = await countersOf(database, campaign.campaignId);
    expect(kept).toEqual(counted);
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ type: string; data: { reason?: string; trunkReason?: string } }>`
        select e.type, e.data from events e where e.workspace_id = ${workspaceId}
          and e.type in ('trunk.updated', 'phone_number.updated') order by e.type`.execute(db),
    );
    expect(rows.map(({ type, data }) => [type, data.reason ?? data.trunkReason])).toEqual([
      ['phone_number.updated', reason],
      ['trunk.updated', reason],
    ]);
  }),
);
