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

async function seeded(number: (i: number) => number) {
  const { campaignId } = await seedCampaign(server.database, {
    contacts: 80,
    workspaceId,
    number,
    campaign: { max_concurrency: 2 },
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
