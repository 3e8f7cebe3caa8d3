import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient, InvalidRequestError, NotFoundError, type TrunklineClient } from '@trunkline/client';
import { type Mock, startMock } from '@trunkline/mock';
import { prepareCampaign } from './prepare-campaign.ts';

let mock: Mock | undefined;
let client: TrunklineClient;

before(async () => {
  // With TRUNKLINE_BASE_URL and TRUNKLINE_API_KEY it is the same test of a real server.
  if (!process.env['TRUNKLINE_BASE_URL']) mock = await startMock();
  client = mock ? createClient({ baseUrl: mock.url, apiKey: 'tl_mock' }) : createClient();
});
after(() => mock?.close());

test('people from a file are in a campaign that can be started', async () => {
  const campaign = await prepareCampaign(client, 'Reminders', 'phone,name\n+14155550100,Ada\n(415) 555-0186,Grace\n');
  assert.equal(campaign.status, 'draft');
  assert.equal(campaign.direction, 'outbound');
  assert.match(campaign.fromNumber!, /^\+1\d{10}$/);
  assert.deepEqual(
    campaign.lists.map(({ role }) => role),
    ['contacts'],
  );
});

test('a campaign without a name is refused, and the answer says where', async () => {
  await assert.rejects(prepareCampaign(client, '', 'phone\n+14155550100\n'), (error) => {
    assert(error instanceof InvalidRequestError);
    assert.equal(error.details?.[0]?.path, '/body/name');
    return true;
  });
});

test('a campaign that is not there is not found', async () => {
  // A mock has every campaign: it is asked to answer as a server does by itself.
  const headers = { Prefer: 'code=404' };
  await assert.rejects(client.campaigns.get('cmp_01932f3c8a7e7bd0a1b2c3d4e5f60799', { headers }), NotFoundError);
});

test('the calls of a workspace are listed', async () => {
  for await (const call of client.calls.list()) assert.match(call.roomId, /^room_[0-9a-f]{32}$/);
});
