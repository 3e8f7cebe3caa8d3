import { expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { until } from '../../until.ts';
import { sayHello, startAgent } from '../media/agent.ts';
import { startBrokenAgent } from '../media/broken-agents.ts';
import { tone } from '../media/tone.ts';
import { startCalling } from './calling.ts';

const FROM = '+14155550100';
const PEOPLE = 40;

test('with a key refused behind a live socket a campaign does not start; by force it disturbs three people, and the rest is called once a test reaches the agent', async () => {
  await using agent = await startBrokenAgent('key_refused');
  let answered = 0;
  await using calling = await startCalling(async (_call, answer) => {
    answered += 1;
    const phone = await answer();
    // Whoever still speaks when the call ends has nowhere to send it.
    await phone.speak(tone(400, 4000)).catch(() => {});
  });
  const { client, database } = calling.server;
  const [trunk] = (await client.GET('/v1/telephony/trunks')).data!.items;
  const pace = { params: { path: { trunkId: trunk!.id } }, body: { callsPerSecond: 20 } };
  expect((await client.PATCH('/v1/telephony/trunks/{trunkId}', pace)).error).toBeUndefined();
  const workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  const numbers = Array.from({ length: PEOPLE }, (_, i) => ({ phone_number: 14_155_560_000 + i }));
  const list = toId('list', await seedList(database, workspaceId, numbers));
  const agentId = await calling.agentAt(agent.url);
  const lists = [{ id: list, role: 'contacts' as const }];
  const body = { name: 'People', agentId, fromNumber: FROM, lists, maxConcurrency: 20, retryPolicy: [1] };
  const { id } = (await client.POST('/v1/calls/campaigns', { body })).data!.data;
  const path = { id };
  const read = async () => (await client.GET('/v1/calls/campaigns/{id}', { params: { path } })).data!.data;

  const refused = await client.POST('/v1/calls/campaigns/{id}/start', { params: { path } });
  expect(refused.error).toMatchObject({ code: 'campaign_not_startable', error: expect.stringContaining('broke off') });
  const forced = await client.POST('/v1/calls/campaigns/{id}/start', { params: { path, query: { force: true } } });
  expect(forced.data!.data.status).toBe('running');

  await until(async () => (await read()).status === 'paused');
  expect((await read()).meta).toEqual({ pause: { reason: 'agent_failing' } });
  expect(answered).toBe(3);
  const kept = { params: { path: { agentId } } };
  const failing = (await client.GET('/v1/agents/{agentId}', kept)).data!.data.failing;
  expect(failing).toEqual({ since: expect.any(String), reason: 'crashed' });
  const contacts = await client.GET('/v1/calls/campaigns/{id}/contacts', { params: { path, query: { perPage: 100 } } });
  const reasons = contacts.data!.data.items.map(({ reason }) => reason);
  expect(reasons.filter((reason) => reason === 'abandoned')).toHaveLength(3);
  expect(reasons.filter((reason) => reason === 'agent_failing')).toHaveLength(PEOPLE - 3);

  // One that talks, and hangs up as soon as it was heard.
  const mended = await startAgent((socket) => {
    sayHello(socket);
    socket.send(JSON.stringify({ event: 'mark', mark: { name: 'heard' } }));
    socket.on('message', (data) => String(data).includes('"event":"mark"') && socket.close(1000));
  });
  const connection = { url: mended.url, secret: 'a-secret-of-our-own' };
  const changed = await client.PATCH('/v1/agents/{agentId}', { ...kept, body: { connection } });
  expect(changed.error).toBeUndefined();
  expect((await client.POST('/v1/agents/{agentId}/test', kept)).data!.data).toMatchObject({ reachable: true });
  await until(async () => (await read()).status === 'completed');
  const { outcomes } = (await client.GET('/v1/calls/campaigns/{id}/stats', { params: { path } })).data!.data;
  expect(outcomes).toEqual({ answered: PEOPLE - 3, agent_error: 3 });
  await mended.stop();
});
