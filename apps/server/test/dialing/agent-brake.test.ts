import { expect, test } from 'vitest';
import { resumeBraked } from '../../src/dialing/campaigns/resume-braked.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import type { CallEvent, CallGateway } from '../../src/lines/telephony/call-gateway.ts';
import { openFailing } from '../../src/voices/agents/agent-health.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { until } from '../until.ts';
import { countersOf } from './audit.ts';
import { campaignRow, contactsOf, startTestDialer, untilCompleted } from './dialing.ts';
import { toldOtherwise, unheard } from './told-otherwise.ts';

type Ended = Extract<CallEvent, { type: 'ended' }>;

/** Callees who answer after a moment, and talk. */
const profile = {
  weights: { answered: 100, voicemail: 0, busy: 0, no_answer: 0, declined: 0, invalid_number: 0 },
  ringing: [500, 1000] as [number, number],
  talking: [1000, 2000] as [number, number],
};

/** The end of a call whose agent was heard at once. */
const heard = (ended: Ended): Ended => ({
  ...ended,
  agentEnd: { reason: 'call_ended', firstSoundMs: 10, soundLeftOutMs: 0, framesMissed: 0 },
});

/** Agents that are broken until they are mended. */
function agents() {
  const state = { isBroken: true };
  const gateway = (each: CallGateway) => toldOtherwise(each, (ended) => (state.isBroken ? unheard : heard)(ended));
  return { state, start: (database: Database) => startTestDialer(database, { speed: 10, profile, gateway }) };
}

const rungBy = (database: Database, campaignId: string) =>
  database.inEngine(({ db }) => db.selectFrom('calls').selectAll().where('campaign_id', '=', campaignId).execute());

const paused = async (database: Database, campaignId: string) =>
  (await campaignRow(database, campaignId)).status === 'paused';

test.concurrent('an agent that is broken from the first call on disturbs three people, over all servers and campaigns', () =>
  withDatabase(async (database) => {
    const campaign = { agent_id: 'anna', max_concurrency: 50, max_call_seconds: 60 };
    const one = await seedCampaign(database, { contacts: 40, campaign });
    const { workspaceId } = one;
    const number = (i: number) => 13_102_000_000 + i;
    const other = await seedCampaign(database, { workspaceId, contacts: 40, campaign, number });
    const { state, start } = agents();
    const dialers = await Promise.all([start(database), start(database)]);
    for (const { campaignId } of [one, other]) await until(() => paused(database, campaignId));
    const rung = async () => (await Promise.all([one, other].map((each) => rungBy(database, each.campaignId)))).flat();
    await until(async () => (await rung()).every((call) => call.ended_at !== null));
    expect((await rung()).filter((call) => call.answered_at !== null)).toHaveLength(3);
    expect((await rung()).filter((call) => call.outcome === 'agent_error')).toHaveLength(3);
    for (const { campaignId } of [one, other]) {
      expect(await campaignRow(database, campaignId)).toMatchObject({ pause_reason: 'agent_failing', in_flight: 0 });
    }
    // A check opens it again: few are called until it is heard, and then all that are left.
    state.isBroken = false;
    await database.inWorkspace(workspaceId, async (tx) => {
      expect(await openFailing(tx, 'anna')).toBe(true);
      await resumeBraked(tx, 'anna', new Date());
    });
    for (const { campaignId } of [one, other]) await untilCompleted(database, campaignId, 60);
    await Promise.all(dialers.map(({ stop }) => stop()));
    const rows = await Promise.all([one, other].map(({ campaignId }) => campaignRow(database, campaignId)));
    expect(rows.map((row) => row.answered + row.agent_error)).toEqual([40, 40]);
    const { kept, counted } = await countersOf(database, one.campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('what rings as an agent breaks is cancelled, and its contacts wait as if they had not been called', () =>
  withDatabase(async (database) => {
    const campaign = { agent_id: 'anna', max_concurrency: 30, max_call_seconds: 60, ring_timeout_seconds: 60 };
    // The first are answered soon, and the others ring for long.
    const { campaignId, workspaceId } = await seedCampaign(database, { contacts: 30, campaign });
    const slow = { ...profile, ringing: [200, 60_000] as [number, number] };
    const gateway = (each: CallGateway) => toldOtherwise(each, unheard);
    await database.inEngine(({ db }) =>
      db
        .insertInto('agent_health')
        .values({ workspace_id: workspaceId, agent_id: 'anna', heard_at: new Date(Date.now() + 60_000) })
        .execute(),
    );
    const { stop } = await startTestDialer(database, { speed: 10, profile: slow, gateway });
    await until(() => paused(database, campaignId));
    await until(async () => (await campaignRow(database, campaignId)).in_flight === 0);
    await stop();
    const cancelled = (await rungBy(database, campaignId)).filter((call) => call.outcome === 'cancelled');
    expect(cancelled.length).toBeGreaterThan(0);
    const of = new Map((await contactsOf(database, campaignId)).map((contact) => [contact.id, contact]));
    for (const call of cancelled) {
      expect(call.reason).toBe('agent_failing');
      expect(of.get(call.owner_id!)).toMatchObject({ state: 'waiting', reason: 'agent_failing', tries: 0 });
    }
  }));

/** Agents who are heard as soon as a call is answered. */
function heardAtOnce(gateway: CallGateway): CallGateway {
  const told = toldOtherwise(gateway, heard);
  return {
    ...told,
    onEvents: (listener) =>
      told.onEvents((events) => {
        listener(events);
        for (const { roomId, at, type } of events)
          if (type === 'answered') listener([{ roomId, at, type: 'agent_heard', agentId: 'anna' }]);
      }),
  };
}

test.concurrent('an agent that is heard has as many calls as its campaign may, while the first of them is still up', () =>
  withDatabase(async (database) => {
    const campaign = { agent_id: 'anna', max_concurrency: 20, max_call_seconds: 3600 };
    const { campaignId } = await seedCampaign(database, { contacts: 20, campaign });
    const long = { ...profile, talking: [3_000_000, 3_000_000] as [number, number] };
    const { stop } = await startTestDialer(database, { speed: 10, profile: long, gateway: heardAtOnce });
    await until(async () => (await rungBy(database, campaignId)).filter((call) => call.answered_at).length === 20);
    const calls = await rungBy(database, campaignId);
    expect(calls.filter((call) => call.ended_at)).toEqual([]);
    const first = Math.min(...calls.map((call) => call.answered_at!.getTime()));
    expect(calls.filter((call) => call.dialed_at!.getTime() <= first).length).toBeLessThanOrEqual(3);
    await stop();
  }));

test.concurrent('simulated calls have no agent, and are braked by none', () =>
  withDatabase(async (database) => {
    const campaign = { agent_id: 'anna', max_concurrency: 20, max_call_seconds: 60 };
    const { campaignId, workspaceId } = await seedCampaign(database, { contacts: 20, campaign });
    const failing = { workspace_id: workspaceId, agent_id: 'anna', failures: 3, failing_since: new Date() };
    await database.inEngine(({ db }) => db.insertInto('agent_health').values(failing).execute());
    const { stop } = await startTestDialer(database, { speed: 10, profile });
    await untilCompleted(database, campaignId);
    await stop();
    expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 20 });
  }));
