import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { campaignRow } from '../dialing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 1000 } });
});
afterAll(() => server.stop());

const CONTACTS = 61;
/** The one that is spoiled: within the first batch. */
const HOSTILE = 7;
const hostileNumber = 14_152_000_000 + HOSTILE;

type Client = TestServer['client'];

const write = (text: string) => server.database.inEngine(({ db }) => sql.raw(text).execute(db));

/** A workspace of its own, its client, and a paused campaign there of 61 people, whose contacts are added. */
async function pausedCampaign(timezone: string | null = null) {
  const name = newUuid();
  const apiKey = await keyWith(server, { permissions: ['*'], workspace: name });
  const client = server.clientOf(apiKey);
  const { id: workspaceId } = await server.database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').where('name', '=', name).executeTakeFirstOrThrow(),
  );
  const campaign = await seedCampaign(server.database, {
    contacts: CONTACTS,
    workspaceId,
    timezone: (i) => (i === HOSTILE ? timezone : null),
    campaign: { status: 'paused', schedule_start: 0, schedule_end: 1440, agent_id: 'agent_reception' },
  });
  await write(`update workspaces set quiet_hours_start = null, quiet_hours_end = null where id = '${workspaceId}'`);
  await until(async () => (await campaignRow(server.database, campaign.campaignId)).contacts_added);
  return { client, apiKey, campaign, id: toId('cmp', campaign.campaignId) };
}

/** What clients read of a campaign: all of it must be answered. */
async function readBy(client: Client, id: string) {
  const path = { id };
  const contacts = await client.GET('/v1/calls/campaigns/{id}/contacts', {
    params: { path, query: { perPage: 100 } },
  });
  const preview = await client.POST('/v1/calls/campaigns/{id}/preview', { params: { path } });
  expect([contacts.error, preview.error]).toEqual([undefined, undefined]);
  expect([contacts.response.status, preview.response.status]).toEqual([200, 200]);
  return { contacts: contacts.data!.data.items, preview: preview.data!.data };
}

/** Waits until so many of a campaign have been called, and looks at each time that it can be read. */
const untilCalled = (client: Client, id: string, people: number) =>
  until(async () => {
    const { contacts } = await readBy(client, id);
    return contacts.filter(({ attempts }) => attempts > 0).length === people;
  });

/** What becomes of the hostile contact, and how it is changed once it is added: `$hostile` names its row. */
const cases: [name: string, change: string, reason: string | undefined][] = [
  ['number that no plan has', 'update campaign_contacts set phone_number = 10002000007 $hostile', 'invalid_number'],
  [
    'number of a country without phones',
    'update campaign_contacts set phone_number = 99912345678 $hostile',
    'invalid_number',
  ],
  [
    'lane of no zone',
    `update campaign_lanes set timezones = '{Mars/Olympus}' where is_own and $ws`,
    'invalid_time_zone',
  ],
  ['time before all', `update campaign_contacts set next_attempt_at = '-infinity' $hostile`, undefined],
  ['count of attempts at its end', 'update campaign_contacts set attempt = 32767 $hostile', 'invalid_contact'],
  ['name of 65,536 letters', `update campaign_contacts set name = repeat('x', 65536) $hostile`, undefined],
  ['value of 65,536 letters', `update campaign_contacts set "values" = array[repeat('x', 65536)] $hostile`, undefined],
  ['values of no columns', `update campaign_contacts set "values" = array['a', 'b', null, 'c'] $hostile`, undefined],
  [
    'name of signs that control',
    `update campaign_contacts set name = E'\\u0001\\u001b[2J\\u202e\\ufeff' $hostile`,
    undefined,
  ],
  ['metadata of another kind', `update campaign_contacts set metadata = '[1, {"a": null}]' $hostile`, undefined],
  [
    'metadata of a prototype',
    `update campaign_contacts set metadata = '{"__proto__": {"b": 1}, "constructor": 7}' $hostile`,
    undefined,
  ],
  ['entry that is gone', 'delete from contact_list_entries $hostile', undefined],
];

describe.concurrent('a campaign of 61 calls 60, and is read', () => {
  test.each(cases)('with one that has a %s', async (_, change, reason) => {
    const { client, campaign, id } = await pausedCampaign(change.includes('is_own') ? 'Europe/Berlin' : null);
    const ofWorkspace = `workspace_id = '${campaign.workspaceId}'`;
    await write(
      change
        .replace('$hostile', `where ${ofWorkspace} and phone_number = ${hostileNumber}`)
        .replace('$ws', ofWorkspace),
    );
    await readBy(client, id);
    const resumed = await client.POST('/v1/calls/campaigns/{id}/resume', { params: { path: { id } } });
    expect(resumed.error).toBeUndefined();
    await untilCalled(client, id, reason === undefined ? CONTACTS : CONTACTS - 1);
    const { contacts } = await readBy(client, id);
    expect(contacts).toHaveLength(CONTACTS);
    expect(contacts.filter(({ state }) => state === 'skipped').map((contact) => contact.reason)).toEqual(
      reason === undefined ? [] : [reason],
    );
  });
});

/** Entries as somebody may send them, and what is answered of it: nothing if it is taken. */
const sent: [name: string, hostile: string, code: string | undefined][] = [
  ['NUL in its name', '"name": "A\\u0000da"', 'invalid_entry'],
  ['half a sign as its name', '"name": "\\ud800"', 'invalid_entry'],
  ['NUL in a variable', '"variables": {"city": "\\u0000"}', 'invalid_entry'],
  ['half a sign as the name of a variable', '"variables": {"\\udfff": "x"}', 'invalid_entry'],
  ['variables of a prototype', '"variables": {"__proto__": "a"}', 'invalid_entry'],
  ['variables by the names of methods', '"variables": {"toString": "a", "hasOwnProperty": "b"}', undefined],
  ['variables that are a prototype', '"__proto__": {"name": "x"}', 'invalid_entry'],
  ['a value of 60,000 letters', `"variables": {"city": "${'x'.repeat(60_000)}"}`, undefined],
  ['a value longer than a row', `"variables": {"city": "${'x'.repeat(70_000)}"}`, 'row_too_long'],
  ['a variable that is a number', '"variables": {"age": 41}', 'invalid_entry'],
  ['a day that is none', '"variables": {"appointment": "2026-02-30T25:61:00Z"}', undefined],
  ['a time zone of two meanings', '"timezone": "BST"', 'invalid_timezone'],
  ['a number too large', '"phoneNumber": 1e400', 'invalid_entry'],
  ['a number of signs', '"phoneNumber": "+1415\\u202e5550107"', undefined],
  ['nothing', '"phoneNumber": null', 'invalid_entry'],
];

describe.concurrent('a campaign of 61 that came as JSON calls all others', () => {
  test.each(sent)('with one that has %s', async (_, hostile, code) => {
    const { client, apiKey, campaign } = await pausedCampaign();
    const { data: list } = await client.POST('/v1/calls/contact-lists', {
      body: { name: 'People', defaultCountry: 'US' },
    });
    const entries = Array.from({ length: CONTACTS }, (_, i) => {
      const number = `"phoneNumber": "+141555501${String(i).padStart(2, '0')}"`;
      return i === HOSTILE ? `{${hostile.includes('phoneNumber') ? '' : `${number}, `}${hostile}}` : `{${number}}`;
    });
    const response = await fetch(`${server.url}/v1/calls/contact-lists/${list!.id}/entries`, {
      method: 'POST',
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      body: `{"entries": [${entries.join()}]}`,
    });
    const added = await response.json();
    expect(added).toMatchObject({ rejected: code === undefined ? [] : [{ index: HOSTILE, code }] });
    const taken = code === undefined ? CONTACTS : CONTACTS - 1;
    const { phone_number: fromNumber } = await server.database.inEngine(({ db }) =>
      db
        .selectFrom('phone_numbers')
        .select('phone_number')
        .where('workspace_id', '=', campaign.workspaceId)
        .executeTakeFirstOrThrow(),
    );
    const body = {
      name: 'All',
      agentId: 'agent_reception',
      fromNumber,
      lists: [{ id: list!.id, role: 'contacts' as const }],
    };
    const made = await client.POST('/v1/calls/campaigns', { body });
    expect(made.error).toBeUndefined();
    const { id } = made.data!.data;
    const started = await client.POST('/v1/calls/campaigns/{id}/start', { params: { path: { id } } });
    expect(started.error).toBeUndefined();
    await untilCalled(client, id, taken);
    expect((await readBy(client, id)).contacts).toHaveLength(taken);
  });
});
