import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { createSimulator } from '../../../src/lines/telephony/simulator/simulator.ts';
import { postgresStore } from '../../../src/lines/telephony/simulator/store.ts';
import { postgresCallStore } from '../../../src/lines/telephony/sip/call-store.ts';
import { NotWitnessed } from '../../../src/platform/installation/raise-number.ts';
import type { RestoreGuard } from '../../../src/platform/installation/restore-guard.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedRow } from '../../seed/rows.ts';
import { unguarded } from '../../unguarded.ts';
import { startCarrier } from './carrier.ts';
import { byItself, openSipGateways, type SipGateways, trunkTo } from './sip-gateways.ts';

let gateways: SipGateways;
beforeAll(async () => {
  gateways = await openSipGateways();
});
afterAll(() => gateways.close());

/** A guard whose witness is late, or that keeps nothing, until it is let go. */
function guardOf(way: 'late' | 'kept from it') {
  let isAway = true;
  const guard: Pick<RestoreGuard, 'keepCalls'> = {
    keepCalls: async (keep, callsOf) => {
      if (isAway && way === 'kept from it') throw new NotWitnessed();
      return { ...(await unguarded(gateways.database).keepCalls(keep, callsOf)), isWitnessed: !isAway };
    },
  };
  return { guard, letGo: () => (isAway = false) };
}

const call = () => ({
  ...{ workspaceId: newUuid(), roomId: newUuid(), attempt: 1, from: '+14155550100', to: '+14155550101' },
  ...{ agentId: 'agent', ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself },
});

test.each(['late', 'kept from it'] as const)(
  'a call of which no witness knows (%s) is not sent, is unknown to a look-up, and is sent once as its next attempt',
  async (way) => {
    const { guard, letGo } = guardOf(way);
    const carrier = await startCarrier(() => (invited) => invited.reject(486));
    const gateway = await gateways.gatewayFor(2, { store: postgresCallStore(gateways.database, guard) });
    await gateway.start();
    const request = { ...call(), trunk: trunkTo(carrier.port) };
    expect(await gateway.placeCall(request)).toMatchObject({ status: 'withheld' });
    expect(carrier.calls).toEqual([]);
    // Its sound's port is given back first.
    await expect.poll(() => gateway.lookup({ ...request, placedAt: new Date() })).toEqual({ state: 'absent' });
    letGo();
    expect(await gateway.placeCall({ ...request, attempt: 2 })).toMatchObject({ status: 'accepted' });
    expect(carrier.calls).toHaveLength(1);
    await gateway.stop();
    await carrier.stop();
  },
);

test.each(['late', 'kept from it'] as const)(
  'the simulator keeps no call of which no witness knows (%s)',
  async (way) => {
    const { guard, letGo } = guardOf(way);
    const simulator = createSimulator({
      seed: 's',
      speed: 1,
      store: postgresStore(gateways.database, guard, { serverId: newUuid }),
    });
    await simulator.start();
    const request = call();
    expect(await simulator.placeCall(request)).toMatchObject({ status: 'withheld' });
    expect(await simulator.lookup({ ...request, placedAt: new Date() })).toEqual({ state: 'absent' });
    letGo();
    expect(await simulator.placeCall(request)).toEqual({ status: 'accepted' });
    await simulator.stop();
  },
);

test('the simulator keeps a call that another server has taken over, and follows, meanwhile', async () => {
  const { database } = gateways;
  const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0, campaign: { status: 'paused' } });
  const [{ id: frozen }, { id: other }] = [await seedRow(database, 'servers'), await seedRow(database, 'servers')];
  const { phone_number_id } = await campaignRow(database, campaignId);
  const { guard } = guardOf('late');
  const simulator = createSimulator({
    seed: 's',
    speed: 1,
    store: postgresStore(database, guard, { serverId: () => frozen }),
  });
  await simulator.start();
  for (const [at, server_id] of [frozen, other].entries()) {
    const { id: roomId } = await seedRow(database, 'calls', {
      ...{ workspace_id: workspaceId, campaign_id: campaignId, to_number: 14155550101 + at, server_id },
      phone_number_id: phone_number_id!,
    });
    const request = { ...call(), workspaceId, roomId };
    expect(await simulator.placeCall(request)).toMatchObject({ status: 'withheld' });
    const { state } = await simulator.lookup({ ...request, placedAt: new Date() });
    expect(state).toBe(server_id === frozen ? 'absent' : 'live');
  }
  await simulator.stop();
});
