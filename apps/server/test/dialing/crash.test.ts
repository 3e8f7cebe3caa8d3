import { pino } from 'pino';
import { expect, test } from 'vitest';
import { lostServers, takeOverCalls } from '../../src/dialing/calls/take-over-calls.ts';
import { addContacts } from '../../src/dialing/campaigns/add-contacts.ts';
import { claimContacts } from '../../src/dialing/campaigns/claim/claim-contacts.ts';
import type { Tx } from '../../src/foundation/database/database.ts';
import { openLease } from '../../src/foundation/database/lease.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { runCrash, runFreeze } from '../crash/servers.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedRow } from '../seed/rows.ts';
import { until } from '../until.ts';
import { startTestSwitchboard } from './calls/test-switchboard.ts';
import { campaignRow, startTestDialer } from './dialing.ts';

const log = pino({ level: 'silent' });

test.concurrent('three servers, two of them killed: nobody is dialled twice or forgotten, and no limit is passed', () =>
  withDatabase((database) => runCrash(database, { seed: 1, contacts: 500, restart: false })));

test.concurrent('a server that was frozen beyond its lease finds its moves refused', () =>
  withDatabase((database) => runFreeze(database, { seed: 1, contacts: 500, freezes: 1 })));

test.concurrent('nothing is claimed under the name of a server that was given up', () =>
  withDatabase(async (database) => {
    const campaign = await seedCampaign(database, { contacts: 10 });
    await addContacts(database, campaign, new Date());
    const claimAs = (serverId: string) =>
      claimContacts(
        database,
        campaign,
        { serverId, free: 10, now: new Date(), isSimulated: () => true, operator: noOperatorLimits },
        async () => {},
      );
    expect((await claimAs(newUuid())).calls).toEqual([]);
    expect(await campaignRow(database, campaign.campaignId)).toMatchObject({ in_flight: 0, pending: 10 });
    const lease = await openLease({ database, seconds: 10, log });
    expect((await claimAs(lease.serverId())).calls).toHaveLength(10);
    await lease.release();
  }));

test.concurrent('a call is never left with a server that was given up, which nobody looks at any more', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0, campaign: { status: 'paused' } });
    const [lost, alive] = [newUuid(), newUuid()];
    await seedRow(database, 'servers', { id: lost, lease_until: new Date(0) });
    await seedRow(database, 'servers', { id: alive });
    const { phone_number_id } = await campaignRow(database, campaignId);
    await seedRow(database, 'calls', {
      ...{ workspace_id: workspaceId, campaign_id: campaignId, to_number: 14155550100, server_id: lost },
      phone_number_id: phone_number_id!,
    });
    expect(await takeOverCalls(database, newUuid(), log)).toEqual([]);
    expect(await takeOverCalls(database, alive, log)).toHaveLength(1);
  }));

test.concurrent('nothing is taken over while a second of a lease is left', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0, campaign: { status: 'paused' } });
    const { phone_number_id } = await campaignRow(database, campaignId);
    const { id: me } = await seedRow(database, 'servers');
    const shared = { workspace_id: workspaceId, campaign_id: campaignId, phone_number_id: phone_number_id! };
    for (let tries = 0; ; tries += 1) {
      const began = performance.now();
      const { id: server_id } = await seedRow(database, 'servers', { lease_until: new Date(Date.now() + 1000) });
      await seedRow(database, 'calls', { ...shared, to_number: 14155550100 + tries, server_id });
      const taken = await takeOverCalls(database, me, log, lostServers.only(server_id));
      // A look that took so long says nothing.
      if (performance.now() - began > 900) continue;
      expect(taken).toEqual([]);
      return;
    }
  }));

test.concurrent('servers that lost their leases together take up their own calls, and leave each other time for theirs', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0, campaign: { status: 'paused' } });
    const { phone_number_id } = await campaignRow(database, campaignId);
    const [theirs, mine, next] = [newUuid(), newUuid(), newUuid()];
    const calls: { id: string }[] = [];
    for (const [at, server_id] of [theirs, mine].entries()) {
      await seedRow(database, 'servers', { id: server_id, lease_until: new Date(0) });
      calls.push(
        await seedRow(database, 'calls', {
          ...{ workspace_id: workspaceId, campaign_id: campaignId, to_number: 14155550100 + at, server_id },
          ...{ phone_number_id: phone_number_id!, status: 'in_progress' },
        }),
      );
    }
    await seedRow(database, 'servers', { id: next });
    const told: { server: string; at: number }[] = [];
    const write = (line: string) => {
      const { server } = JSON.parse(line);
      if (server) told.push({ server, at: performance.now() });
    };
    let [id, leftMs, steadySince] = [mine, 0, 0];
    const lease = {
      ...{ serverId: () => id, isHeld: () => leftMs > 0, leftMs: () => leftMs },
      ...{ steadySince: () => steadySince, release: async () => {} },
    };
    const moved: unknown[] = [];
    const moveCalls = async (_tx: Tx, roomIds: readonly string[], to: string) => void moved.push({ roomIds, to });
    const { switchboard } = startTestSwitchboard(database, { moveCalls }, pino({ level: 'warn' }, { write }), {
      lease,
      leaseSeconds: 1,
    });
    [id, leftMs, steadySince] = [next, 1000, performance.now()];
    await until(() => told.length === 2);
    await switchboard.stop();
    expect(told.map(({ server }) => server)).toEqual([mine, theirs]);
    expect(moved).toEqual([{ roomIds: [calls[1]!.id], to: next }]);
    expect(told[1]!.at - steadySince).toBeGreaterThanOrEqual(1000);
  }));

test.concurrent('who starts takes over from a server that was stopped at once; for one that was lost, of which it warns, it waits', () =>
  withDatabase(async (database) => {
    const { id: lost } = await seedRow(database, 'servers', { lease_until: new Date() });
    const stopped = await openLease({ database, seconds: 10, log });
    await stopped.release();
    const told: { level: number; server?: string; at: number }[] = [];
    const write = (line: string) => {
      const said = JSON.parse(line);
      // Its own lease may run out on a machine that stalls, and is told of as well.
      if ([lost, stopped.serverId()].includes(said.server)) told.push({ ...said, at: performance.now() });
    };
    const began = performance.now();
    const { stop } = await startTestDialer(database, { leaseSeconds: 2, log: pino({ level: 'info' }, { write }) });
    await until(async () => told.length === 2);
    await stop();
    const levels = Object.fromEntries(told.map(({ server, level }) => [server, level]));
    expect(levels).toEqual({ [stopped.serverId()]: 30, [lost]: 40 });
    expect(told.find(({ server }) => server === lost)!.at - began).toBeGreaterThanOrEqual(2000);
    // A machine that stalls for so long looks for both at once.
    if (told[0]!.at - began < 2000) expect(told[0]!.server).toBe(stopped.serverId());
  }));
