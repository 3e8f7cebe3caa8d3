import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

/** At this line of any area the simulated trunk fails. */
const failing = (i: number) => 12_005_550_150 + i * 10_000_000;
/** And here somebody answers. */
const answering = (i: number) => 12_005_550_100 + i * 10_000_000;

let server: TestServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 1000 } });
  const { data } = await server.client.GET('/v1/workspace');
  workspaceId = fromId(data!.data.id);
});
afterAll(() => server.stop());

async function seeded(number: (i: number) => number, campaign: Record<string, unknown> = {}) {
  const { campaignId } = await seedCampaign(server.database, {
    contacts: 80,
    workspaceId,
    number,
    campaign: { max_concurrency: 2, ...campaign },
  });
  const params = { params: { path: { id: toId('cmp', campaignId) } } };
  const read = async () => (await server.client.GET('/v1/calls/campaigns/{id}', params)).data!.data;
  const failures = async () =>
    (await server.client.GET('/v1/calls/campaigns/{id}/stats', params)).data!.data.outcomes.trunk_error ?? 0;
  return { id: params.params.path.id, params, read, failures };
}

test('a campaign whose calls fail pauses itself, says why, and counts anew once it is resumed', async () => {
  const { id, params, read, failures } = await seeded(failing);
  await until(async () => (await read()).status === 'paused');
  expect(await read()).toMatchObject({ meta: { pause: { reason: 'calls_failing' } }, pausedAt: expect.any(String) });
  const first = await failures();
  expect(first).toBeGreaterThanOrEqual(20);
  expect(first).toBeLessThanOrEqual(22);

  const resumed = await server.client.POST('/v1/calls/campaigns/{id}/resume', params);
  expect(resumed.data?.data).toMatchObject({ status: 'running' });
  expect(resumed.data?.data.meta).toBeUndefined();
  await until(async () => (await read()).status === 'paused');
  expect(await failures()).toBeGreaterThanOrEqual(first + 20);

  const told = await server.database.inWorkspace(workspaceId, ({ db }) =>
    db.selectFrom('events').select('type').where('resource_id', '=', fromId(id)).orderBy('revision').execute(),
  );
  expect(told.map(({ type }) => type)).toEqual(['campaign.paused', 'campaign.running', 'campaign.paused']);
});

test('one that somebody pauses says nothing of it, and one whose people answer goes on', async () => {
  const { params, read } = await seeded(answering);
  const paused = await server.client.POST('/v1/calls/campaigns/{id}/pause', params);
  expect(paused.data?.data.meta).toBeUndefined();
  await server.client.POST('/v1/calls/campaigns/{id}/resume', params);
  await until(async () => (await read()).status === 'completed');
});

test('one that has spent its budget pauses itself, says why, and goes on once it is raised', async () => {
  const { id, params, read } = await seeded(answering, { budget_calls: 5 });
  expect(await read()).toMatchObject({ budget: { maxCalls: 5 } });
  const { client } = server;
  const spent = async () => {
    await until(async () => (await read()).status === 'paused');
    await until(async () => {
      const { data } = await client.GET('/v1/calls/campaigns/{id}/stats', params);
      expect(data!.data.dialing).toBe(0);
    });
    const { data } = await client.GET('/v1/calls/campaigns/{id}/stats', params);
    return { attempts: data!.data.attempts, meta: (await read()).meta };
  };
  const goOn = async (budget?: { maxCalls?: number; maxMinutes?: number } | null) => {
    if (budget !== undefined) await client.PATCH('/v1/calls/campaigns/{id}', { ...params, body: { budget } });
    await client.POST('/v1/calls/campaigns/{id}/resume', params);
  };
  const meta = { pause: { reason: 'budget_reached' } };
  expect(await spent()).toEqual({ attempts: 5, meta });
  await goOn();
  expect(await spent()).toEqual({ attempts: 5, meta });
  await goOn({ maxCalls: 8, maxMinutes: 90 });
  expect(await spent()).toEqual({ attempts: 8, meta });
  expect((await read()).budget).toEqual({ maxCalls: 8, maxMinutes: 90 });
  const told = await server.database.inWorkspace(workspaceId, ({ db }) =>
    db
      .selectFrom('events')
      .select(['type', 'data'])
      .where('resource_id', '=', fromId(id))
      .orderBy('revision')
      .execute(),
  );
  expect(told.filter(({ type }) => type === 'campaign.paused').map(({ data }) => data)).toMatchObject([
    { meta },
    { meta },
    { meta },
  ]);
  await goOn(null);
  await until(async () => (await read()).status === 'completed');
  expect(await read()).not.toHaveProperty('budget');
});

test('minutes are counted, and what is up goes on', async () => {
  const { params, read } = await seeded(answering, { budget_minutes: 1, talk_ms: 59_999 });
  await until(async () => (await read()).meta?.pause?.reason === 'budget_reached');
  await until(async () => {
    const { data } = await server.client.GET('/v1/calls/campaigns/{id}/stats', params);
    expect(data!.data.dialing).toBe(0);
    expect(data!.data.talkSeconds).toBeGreaterThanOrEqual(60);
    expect(data!.data.attempts).toBeLessThanOrEqual(4);
  });
});

test('one whose last contacts are within its budget is completed', async () => {
  const { read } = await seeded(answering, { budget_calls: 80 });
  await until(async () => (await read()).status === 'completed');
});
