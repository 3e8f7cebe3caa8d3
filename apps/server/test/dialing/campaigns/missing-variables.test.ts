import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const FROM = '+12125550199';
const numberOf = (person: number) => 12_005_550_100 + person * 10_000_000;

let server: TestServer;
let lists: { id: string; role: 'contacts' }[];
beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'agents-'));
  const agentsFile = path.join(folder, 'agents.json');
  const anna = {
    ...{ id: 'anna', name: 'Anna', firstMessage: 'Hello {{first_name}}.' },
    connection: { type: 'realtime', protocol: 'openai_realtime', model: 'gpt-realtime-2' },
    instructions: 'Remind {{name}} of {{day}} at {{time | default: "nine"}} in {{clinic.name}}. It is {{day}}.',
  };
  await writeFile(agentsFile, JSON.stringify({ agents: [anna, { id: 'bea', name: 'Bea' }] }));
  server = await startTestServer({ config: { agentsFile, speechUrl: 'http://127.0.0.1:9/v1/audio/speech' } });
  await rm(folder, { recursive: true });
  await server.client.POST('/v1/telephony/phone-numbers/buy', {
    body: { phoneNumber: FROM, provider: 'simulator' },
    params: { header: { 'Idempotency-Key': 'one' } },
  } as never);
  const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
  const entry = (person: number, name: string | null, values: (string | null)[]) => ({
    ...{ phone_number: numberOf(person), name, values },
  });
  const listOf = async (columns: string[], entries: ReturnType<typeof entry>[]) => ({
    id: toId('list', await seedList(server.database, workspaceId, entries, { columns, status: 'ready' })),
    role: 'contacts' as const,
  });
  lists = [
    await listOf(
      ['first_name', 'day'],
      [entry(1, 'Ada', ['Ada', 'Monday']), entry(2, null, ['', null]), entry(3, 'Cy', [null, 'Tuesday'])],
    ),
    await listOf(['day'], [entry(1, null, [null]), entry(4, null, ['Friday'])]),
  ];
});
afterAll(() => server.stop());

/** A campaign that calls nobody today. */
async function campaignOf(agentId: string) {
  const days = [(((server.clock.now().getUTCDay() || 7) + 2) % 7) + 1] as [1];
  const callingWindows = [{ days, start: 720, end: 780 }];
  const body = { name: 'Reminders', agentId, fromNumber: FROM, lists, callingWindows };
  const { id } = (await server.client.POST('/v1/calls/campaigns', { body })).data!.data;
  const at = { params: { path: { id } } };
  const preview = async () => (await server.client.POST('/v1/calls/campaigns/{id}/preview', at)).data!.data;
  return { at, preview };
}

const lacking = { name: 2, day: 1, 'clinic.name': 4, first_name: 3 };
const ofEach = [['clinic.name'], ['name', 'day', 'clinic.name', 'first_name'], ['clinic.name', 'first_name']];

test('the preview tells what contacts lack of what the agent says, by count and for each; so does the start', async () => {
  const { at, preview } = await campaignOf('anna');
  const first = await preview();
  expect(first).toMatchObject({ callable: 4, missingVariables: lacking });
  expect(first).not.toHaveProperty('unreadySentences');
  const byNumber = new Map(first.sample.map((each) => [each.phoneNumber, each.missingVariables]));
  const people = [1, 2, 3, 4].map((person) => byNumber.get(`+${numberOf(person)}`));
  expect(people).toEqual([...ofEach, ['name', 'clinic.name', 'first_name']]);
  const { data } = await server.client.POST('/v1/calls/campaigns/{id}/start', at);
  expect(data!.data.missingVariables).toEqual(lacking);
  const { data: read } = await server.client.GET('/v1/calls/campaigns/{id}', at);
  expect(read!.data).not.toHaveProperty('missingVariables');
  await until(async () => {
    const { data: stats } = await server.client.GET('/v1/calls/campaigns/{id}/stats', at);
    expect(stats!.data).toMatchObject({ totalContacts: 4, pending: 4 });
  });
  expect(await preview()).toMatchObject({ missingVariables: lacking });
  await server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [`+${numberOf(4)}`] } });
  expect((await preview()).missingVariables).toEqual({ name: 1, day: 1, 'clinic.name': 3, first_name: 2 });
});

test('of a script the sentences are told that are not made yet, and of an agent without texts nothing', async () => {
  const say = (id: string, text: string) => ({ id, type: 'say' as const, text });
  const ask = { ...say('answer', 'Press 1.'), type: 'ask' as const };
  const long = 'x'.repeat(300);
  const data = { day: '{{day}}', answer: '{{answer}}' };
  const steps = [say('a', 'Hello.'), say('b', `Hello {{first_name}}. {{${long}}}`), say('c', 'Hello.'), ask];
  const { data: made } = await server.client.POST('/v1/agents', {
    body: { name: 'Rita', connection: { type: 'script', steps: [...steps, { id: 'd', type: 'set', data }] } },
  });
  const { preview } = await campaignOf(made!.data.agent.id);
  const told = await preview();
  expect(told.unreadySentences).toBe(2);
  expect(Object.keys(told.missingVariables!)).toEqual(['first_name', long, 'day']);
  const without = await (await campaignOf('bea')).preview();
  expect(without).not.toHaveProperty('missingVariables');
  expect(without).not.toHaveProperty('unreadySentences');
});
