import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { type SeededCampaign, seedCampaign } from '../../seed/campaign.ts';
import { seedList } from '../../seed/list.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
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

describe('a search', () => {
  const search = async (query: string, client = server.client, defaultCountry?: string) => {
    const { data, error } = await client.GET('/v1/search', {
      params: { query: { query, ...(defaultCountry !== undefined && { defaultCountry }) } },
    });
    if (!data) throw new Error(JSON.stringify(error));
    return data.data;
  };
  const look = async (...asked: Parameters<typeof search>) => (await search(...asked)).hits;
  const typesOf = async (...asked: Parameters<typeof look>) => (await look(...asked)).map(({ type }) => type);
  const ada = { type: 'person', id: phoneNumber, name: 'Ada', phoneNumber };

  test('finds a word of a name, a number and an ID, within what the key may read', async () => {
    expect(await look(' aDA ')).toEqual([{ ...ada, matched: 'name' }]);
    expect(await look('(200) 555-0186', server.client, 'US')).toMatchObject([
      { ...ada, matched: 'number' },
      { type: 'call', matched: 'number', phoneNumber, status: 'failed' },
    ]);
    expect(await look('555 0186')).toEqual([{ ...ada, matched: 'number' }]);
    const found = { type: 'campaign', id: toId('cmp', campaign.campaignId), name: 'Campaign', status: 'completed' };
    expect(await look('camp')).toEqual([{ ...found, matched: 'name' }]);
    expect(await look(found.id.toUpperCase())).toEqual([{ ...found, matched: 'id' }]);
    const [, call] = await look(phoneNumber);
    expect(await look(call!.id)).toEqual([{ ...call!, matched: 'id' }]);
    // Nothing in a text is a wildcard.
    for (const text of ['%', 'a.a', '.', 'da', toId('cmp', campaign.listId)]) expect(await look(text)).toEqual([]);
    expect(await typesOf(phoneNumber, await keyFor('Default', ['calls:read']))).toEqual(['call']);
    expect(await typesOf('camp', await keyFor('Default', ['calls:read']))).toEqual([]);
    const other = await keyFor('Other', ['*']);
    for (const text of ['ada', phoneNumber, 'camp', found.id, call!.id]) expect(await look(text, other)).toEqual([]);
  });

  test('finds each type, and of a person what came last', async () => {
    const own = { workspace_id: workspaceId };
    const end = { id: 'end', type: 'end', title: 'End', status: 'completed' } as const;
    const named = { ...own, name: 'North-East Ælf' };
    const ids = {
      contact_list: await seedList(server.database, workspaceId, [{ phone_number: NUMBER, name: 'Old Ælf' }], {
        name: named.name,
      }),
      agent: (await seedRow(server.database, 'agents', named)).id,
      phone_number: (await seedRow(server.database, 'phone_numbers', { ...own, friendly_name: named.name })).id,
      number_pool: (await seedRow(server.database, 'number_pools', named)).id,
      trunk: (await seedRow(server.database, 'trunks', { ...own, termination_url: 'east.ælf.sim' })).id,
      workflow: await seedWorkflow(server.database, workspaceId, {
        name: named.name,
        startNodeId: 'end',
        nodes: [end],
      }),
      knowledge_base: fromId(
        (await server.client.POST('/v1/knowledge-bases', { body: { name: named.name } })).data!.data.id,
      ),
    };
    await seedList(server.database, workspaceId, [{ phone_number: NUMBER, name: 'Jane ÆLFGIFU' }], { name: 'Two' });
    const hits = await look('ælf');
    expect(hits.map(({ type }) => type)).toEqual(['person', ...Object.keys(ids)]);
    expect(hits.slice(1).map(({ id }) => fromId(id))).toEqual(Object.values(ids));
    expect(hits[0]).toEqual({ ...ada, matched: 'name', name: 'Jane ÆLFGIFU' });
    for (const { id, type } of hits.slice(1)) expect(await look(id)).toMatchObject([{ id, type, matched: 'id' }]);
    await seedList(server.database, workspaceId, [{ phone_number: NUMBER, name: '2024_Fleet\u00a0Car' }], {
      name: 'Three',
    });
    for (const text of ['2024', 'fleet car', 'Fleet\u00a0Car'])
      expect(await look(text)).toEqual([{ ...ada, matched: 'name', name: '2024_Fleet\u00a0Car' }]);
  });

  test('says if it could not look at all people, which a whole number does not need', async () => {
    expect(await search('Ada')).toMatchObject({ peopleIncomplete: false });
    await write(`update contact_lists set total_entries = total_entries + 100000 where id = '${campaign.listId}'`);
    const found = await Promise.all(['Ada', '555 0186', phoneNumber].map((text) => search(text)));
    await write(`update contact_lists set total_entries = total_entries - 100000 where id = '${campaign.listId}'`);
    expect(found.map(({ peopleIncomplete }) => peopleIncomplete)).toEqual([true, true, false]);
  });

  test('waits for the one before it in the same workspace, so that it takes no more of the database than one', async () => {
    const waiting = () =>
      server.database.inEngine(async ({ db }) => {
        const { rows } = await sql<{ waiting: number }>`
          select count(*)::int as waiting from pg_locks where relation = 'knowledge_bases'::regclass and not granted`.execute(
          db,
        );
        return rows[0]!.waiting;
      });
    const searches = await server.database.inEngine(async ({ db }) => {
      await sql`lock table knowledge_bases in access exclusive mode`.execute(db);
      const sent = [0, 1, 2].map(() => look('ada'));
      await until(async () => (await waiting()) > 0);
      // Answered behind all of them.
      await person();
      expect(await waiting()).toBe(1);
      return sent;
    });
    // Who has waited too long is told so.
    expect(await Promise.allSettled(searches)).toHaveLength(3);
  });
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
