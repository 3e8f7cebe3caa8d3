import { expect, test } from 'vitest';
import { askForCall } from '../../src/dialing/calls/ask-for-call.ts';
import type { Database, EngineTx } from '../../src/foundation/database/database.ts';
import { fromId, newUuid, toId } from '../../src/foundation/values/ids.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { countLiveCalls, lockAgentRoom } from '../../src/voices/agents/agent-room.ts';
import { withLimitsKept } from '../../src/voices/agents/limits-elsewhere.ts';
import { lockAgent } from '../../src/voices/agents/store.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { meanwhile } from '../race.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { insertRows, seedRow } from '../seed/rows.ts';
import { seedNumber, seedWorkspace } from '../seed/workspace.ts';
import { callsOf, countersOf, dialedWrongly, providerPeak, recordedPeak } from './audit.ts';
import { shortCalls, startTestDialer, untilCompleted } from './dialing.ts';

const SPEED = 10;

/** An agent that takes so many calls at once. Answers its ID. */
async function seedAgent(database: Database, workspaceId: string, limit: number, more = {}): Promise<string> {
  const given = { workspace_id: workspaceId, max_concurrent_calls: limit, ...more };
  return toId('agent', (await seedRow(database, 'agents', given)).id);
}

/** A call of an agent that is up. */
const upWith = (workspaceId: string, agentId: string) => ({
  ...{ workspace_id: workspaceId, phone_number_id: newUuid(), to_number: 14_155_550_199 },
  ...{ agent_id: agentId, limited_agent_id: fromId(agentId) },
});

test.concurrent('two campaigns never have more calls up than their agent takes, and none lasts longer than its calls may', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const agent_id = await seedAgent(database, workspaceId, 3, { max_call_seconds: 50 });
    const campaign = { agent_id, ring_timeout_seconds: 6, max_call_seconds: 60 };
    const campaigns = [
      await seedCampaign(database, { workspaceId, contacts: 25, campaign }),
      await seedCampaign(database, { workspaceId, contacts: 25, campaign, number: (i) => 13_102_000_000 + i }),
    ];
    const start = () => startTestDialer(database, { speed: SPEED, profile: shortCalls });
    const dialers = await Promise.all([start(), start()]);
    for (const { campaignId } of campaigns) await untilCompleted(database, campaignId);
    await Promise.all(dialers.map(({ stop }) => stop()));
    expect(await dialedWrongly(database)).toEqual([]);
    const calls = (await Promise.all(campaigns.map(({ campaignId }) => callsOf(database, campaignId)))).flat();
    expect(recordedPeak(calls)).toBe(3);
    expect(providerPeak(calls, shortCalls, SPEED)).toBeLessThanOrEqual(3);
    const rows = await database.inEngine(({ db }) => db.selectFrom('calls').select('max_call_seconds').execute());
    expect(new Set(rows.map((row) => row.max_call_seconds))).toEqual(new Set([50]));
    const { kept, counted } = await countersOf(database, campaigns[0]!.campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('who asks for room while another takes the last of it finds none', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const agentId = await seedAgent(database, workspaceId, 1);
    const room = async (tx: EngineTx) => (await lockAgentRoom(tx, workspaceId, agentId))?.left;
    const taking = async (tx: EngineTx) => {
      expect(await room(tx)).toBe(1);
      await insertRows(tx.db, 'calls', [upWith(workspaceId, agentId)]);
    };
    expect(await meanwhile(database, taking, () => database.inEngine(room))).toBe(0);
  }));

test.concurrent('a campaign has no more calls up than an agent takes that is known elsewhere', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const agents = { resolve: async (id: string) => ({ id, name: id, maxConcurrentCalls: 2 }) };
    await withLimitsKept(database, agents).resolve('reception', workspaceId);
    const campaign = { agent_id: 'reception', ring_timeout_seconds: 6, max_call_seconds: 60 };
    const { campaignId } = await seedCampaign(database, { workspaceId, contacts: 12, campaign });
    const { stop } = await startTestDialer(database, { speed: SPEED, profile: shortCalls, agents });
    await untilCompleted(database, campaignId);
    await stop();
    expect(recordedPeak(await callsOf(database, campaignId))).toBe(2);
  }));

test.concurrent('a call that is being placed counts for its agent that gets a first limit meanwhile', () =>
  withDatabase(async (database) => {
    const { switchboard, stop } = await startTestDialer(database, { speed: 1 });
    const workspaceId = await seedWorkspace(database);
    await seedNumber(database, workspaceId, '+12125550199');
    const { id } = await seedRow(database, 'agents', { workspace_id: workspaceId });
    const [server] = await database.inEngine(({ db }) => db.selectFrom('servers').select('id').execute());
    const wish = {
      ...{
        workspaceId,
        agentId: toId('agent', id),
        owner: { kind: 'run', id: newUuid() },
        attempt: 1,
        to: '+14155550100',
      },
      ...{ from: { number: '+12125550199' }, variables: {}, hours: {} },
      ...{ ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, asksAgain: true },
    };
    const terms = {
      serverId: server!.id,
      now: new Date(),
      isSimulated: switchboard.isSimulated,
      operator: noOperatorLimits,
    };
    const placing = async (tx: EngineTx) => {
      expect(await askForCall(tx, wish, terms)).toMatchObject({ kind: 'queued' });
    };
    const limiting = () =>
      database.inWorkspace(workspaceId, async (tx) => {
        await lockAgent(tx, id, 'update');
        await tx.db.updateTable('agents').set({ max_concurrent_calls: 1 }).where('id', '=', id).execute();
        await countLiveCalls(tx, toId('agent', id), id);
      });
    await meanwhile(database, placing, limiting);
    expect(await database.inEngine((tx) => lockAgentRoom(tx, workspaceId, toId('agent', id)))).toMatchObject({
      left: 0,
    });
    await stop();
  }));

test.concurrent("a run waits for its agent's room", () =>
  withDatabase(async (database) => {
    const { switchboard, stop } = await startTestDialer(database, { speed: 1 });
    const workspaceId = await seedWorkspace(database);
    await seedNumber(database, workspaceId, '+12125550199');
    const agentId = await seedAgent(database, workspaceId, 1, { max_call_seconds: 50 });
    const servers = await database.inEngine(({ db }) => db.selectFrom('servers').select('id').execute());
    const now = new Date('2026-03-10T12:00:00Z');
    const request = () => {
      const wish = {
        ...{ workspaceId, agentId, owner: { kind: 'run', id: newUuid() }, attempt: 1, to: '+14155550100' },
        ...{ from: { number: '+12125550199' }, variables: {}, hours: {} },
        ...{ ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, asksAgain: true },
      };
      const terms = { serverId: servers[0]!.id, now, isSimulated: switchboard.isSimulated, operator: noOperatorLimits };
      return database.inEngine((tx) => askForCall(tx, wish, terms));
    };
    const { id } = await seedRow(database, 'calls', upWith(workspaceId, agentId));
    const answer = await request();
    expect(answer).toEqual({ kind: 'blocked', reason: 'limit_reached', until: expect.any(Date) });
    if (answer.kind === 'blocked') expect(answer.until!.getTime() - now.getTime()).toBeLessThanOrEqual(5000);
    await database.inEngine(({ db }) =>
      db.updateTable('calls').set({ ended_at: now, status: 'failed' }).where('id', '=', id!).execute(),
    );
    expect(await request()).toMatchObject({ kind: 'queued', call: { request: { agentId, maxCallSeconds: 50 } } });
    await stop();
  }));
