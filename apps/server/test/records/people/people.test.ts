import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { type SeededCampaign, seedCampaign } from '../../seed/campaign.ts';
import { seedList } from '../../seed/list.ts';
import { seedRow } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const NUMBER = 12_005_550_186;
const phoneNumber = `+${NUMBER}`;
const path = { phoneNumber };

let server: TestServer;
let workspaceId: string;
let campaign: SeededCampaign;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 1000 } });
  workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
  campaign = await seedCampaign(server.database, { contacts: 1, workspaceId, number: () => NUMBER });
  await until(async () => (await person()).campaigns?.[0]?.status === 'completed');
});
afterAll(() => server.stop());

async function person(client = server.client) {
  const { data, error } = await client.GET('/v1/people/{phoneNumber}', { params: { path } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}

const keyFor = async (workspace: string, permissions: string[]) =>
  server.clientOf(await createKey(server.database, server.clock, { workspace, name: 'Test', permissions }));

const write = (text: string) => server.database.inWorkspace(workspaceId, ({ db }) => sql.raw(text).execute(db));

test('is told by lists, campaigns, calls and do-not-call', async () => {
  const found = await person();
  expect(found).toMatchObject({
    phoneNumber,
    isDoNotCall: false,
    doNotCall: [],
    lists: [{ contactListId: toId('list', campaign.listId), type: 'contacts', entry: { name: 'Ada', phoneNumber } }],
    campaigns: [
      {
        campaignId: toId('cmp', campaign.campaignId),
        name: 'Campaign',
        status: 'completed',
        callableNow: false,
        reason: 'retries_exhausted',
        contact: { phoneNumber, state: 'done', attempts: 1, lastOutcome: 'busy' },
      },
    ],
    calls: [{ toNumber: phoneNumber, outcome: 'busy', campaignId: toId('cmp', campaign.campaignId) }],
    hasMoreCalls: false,
  });
  expect(found.calls!.map(({ roomId }) => roomId)).toEqual(found.campaigns![0]!.contact.roomIds);
});

test('may be written as people do, and is 404 of whom nobody knows', async () => {
  const ask = (written: string, defaultCountry?: string) =>
    server.client.GET('/v1/people/{phoneNumber}', {
      params: { path: { phoneNumber: written }, query: defaultCountry === undefined ? {} : { defaultCountry } },
    });
  expect((await ask('(200) 555-0186', 'US')).data!.data).toMatchObject({ phoneNumber, lists: [{}] });
  expect((await ask('nobody')).error).toMatchObject({
    code: 'invalid_request',
    details: [{ path: '/path/phoneNumber' }],
  });
  expect((await ask('+14155550999')).error).toMatchObject({ code: 'not_found' });
});

test('shows what the key may read, and nothing of another workspace', async () => {
  const some = await person(await keyFor('Default', ['contact_lists:read', 'campaigns:read']));
  expect(Object.keys(some).sort()).toEqual(['campaigns', 'lists', 'phoneNumber', 'timezones']);
  const other = await keyFor('Other', ['*']);
  expect((await other.GET('/v1/people/{phoneNumber}', { params: { path } })).response.status).toBe(404);
  const weak = await keyFor('Default', ['calls:read']);
  expect((await weak.GET('/v1/people/{phoneNumber}', { params: { path } })).response.status).toBe(403);
});

test('is found by a number or the beginning of a name, as all else is, within what the key may read', async () => {
  const look = async (query: string, client = server.client, defaultCountry?: string) => {
    const { data, error } = await client.GET('/v1/search', {
      params: { query: { query, ...(defaultCountry !== undefined && { defaultCountry }) } },
    });
    if (!data) throw new Error(JSON.stringify(error));
    return data.data.hits;
  };
  const typesOf = async (...asked: Parameters<typeof look>) => (await look(...asked)).map(({ type }) => type);
  const ada = { type: 'person', id: phoneNumber, matched: 'name', name: 'Ada', phoneNumber };
  expect(await look(' aDA ')).toEqual([ada]);
  expect(await look('(200) 555-0186', server.client, 'US')).toMatchObject([
    { ...ada, matched: 'number' },
    { type: 'call', matched: 'number', phoneNumber, status: 'completed' },
  ]);
  const found = { type: 'campaign', id: toId('cmp', campaign.campaignId), name: 'Campaign', status: 'completed' };
  expect(await look('camp')).toEqual([{ ...found, matched: 'name' }]);
  expect(await look(found.id.toUpperCase())).toEqual([{ ...found, matched: 'id' }]);
  // Nothing in a text is a wildcard.
  for (const text of ['%', 'a_a', 'da', toId('cmp', campaign.listId)]) expect(await look(text)).toEqual([]);
  expect(await typesOf(phoneNumber, await keyFor('Default', ['calls:read']))).toEqual(['call']);
  expect(await typesOf('camp', await keyFor('Default', ['calls:read']))).toEqual([]);
  const other = await keyFor('Other', ['*']);
  for (const text of ['ada', phoneNumber, 'camp', found.id]) expect(await look(text, other)).toEqual([]);
});

test('is judged as a claim would: hours, caps, do-not-call and consent', async () => {
  const { campaignId } = await seedCampaign(server.database, {
    contacts: 1,
    workspaceId,
    number: () => NUMBER,
    campaign: { status: 'paused' },
  });
  const verdict = async () => {
    const {
      contact: _,
      name: __,
      ...said
    } = (await person()).campaigns!.find((each) => each.campaignId === toId('cmp', campaignId))!;
    return said;
  };
  await until(async () => (await person()).campaigns?.length === 2);
  expect(await verdict()).toMatchObject({ status: 'paused', callableNow: false, reason: 'campaign_paused' });
  // Seen as running, though nobody claims it.
  await write(`update campaigns set status = 'running', next_claim_at = '2099-01-01' where id = '${campaignId}'`);
  expect(await verdict()).toMatchObject({ status: 'running', callableNow: true });
  const call = await seedRow(server.database, 'calls', { workspace_id: workspaceId, to_number: NUMBER });
  expect(await verdict()).toMatchObject({ callableNow: false, reason: 'already_on_a_call' });
  await write(`delete from calls where id = '${call.id}'`);
  await write('update workspaces set dialing_paused_at = now()');
  expect(await verdict()).toMatchObject({ callableNow: false, reason: 'dialing_paused' });
  await write('update workspaces set max_attempts_per_person_per_day = 1');
  const capped = await verdict();
  expect(capped).toMatchObject({ callableNow: false, reason: 'dialing_paused', nextAttemptAt: expect.any(String) });
  expect(new Date(capped.nextAttemptAt!).getTime()).toBeGreaterThan(server.clock.now().getTime());
  await write('update workspaces set max_attempts_per_person_per_day = null');
  await write(`update campaigns set require_consent = true where id = '${campaignId}'`);
  expect(await verdict()).toMatchObject({ callableNow: false, reason: 'no_consent' });
  await write(`update campaigns set require_consent = false where id = '${campaignId}'`);
  const listId = await seedList(server.database, workspaceId, [{ phone_number: NUMBER }], { type: 'dnd' });
  await server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [phoneNumber], reason: 'Asked by mail' } });
  expect(await verdict()).toEqual({
    ...{ campaignId: toId('cmp', campaignId), status: 'running', callableNow: false, reason: 'do_not_call' },
  });
  expect(await person()).toMatchObject({
    isDoNotCall: true,
    doNotCall: [
      { source: 'opt_out', reason: 'Asked by mail' },
      { source: 'list', contactListId: toId('list', listId) },
    ],
  });
});

test('who was erased is gone, and is still not called', async () => {
  await write(`update campaigns set status = 'stopped' where status = 'running'`);
  const { data } = await server.client.POST('/v1/erasures', { body: { phoneNumber } });
  const erasure = { params: { path: { erasureId: data!.id } } };
  await until(async () => (await server.client.GET('/v1/erasures/{erasureId}', erasure)).data!.status === 'completed');
  expect(await person()).toMatchObject({ lists: [], campaigns: [], calls: [], doNotCall: [], isDoNotCall: true });
});
