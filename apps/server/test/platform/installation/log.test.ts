import { createClient } from '@trunkline/client';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { freshDatabase } from '../../database.ts';
import { frontOf } from '../../foundation/database/front.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';

const KEY = 'tl_test_aKeyForTheTestOfTheLog0001';

test('the log says what an operator looks for, a line each, and of a lost database not more than it goes and comes', async () => {
  const fresh = await freshDatabase();
  const front = await frontOf(fresh.connection);
  await front.become('open');
  const server = await startServerProcess({
    DATABASE_URL: front.connection.connectionString,
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'info',
    LEASE_SECONDS: '1',
    SIMULATOR_SPEED: '1000',
  });
  const lines = () =>
    server
      .log()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const said = () => lines().map(({ msg }) => msg);
  const client = createClient({ baseUrl: server.url, apiKey: KEY });

  await client.POST('/v1/workspace/pause-dialing');
  await client.POST('/v1/workspace/resume-dialing');
  await until(() => said().includes('dialing goes on after the kill switch'));
  expect(said()).toContain('dialing is paused by the kill switch');

  const database = openDatabase({ connection: fresh.connection, poolSize: 1, log: pino({ level: 'silent' }) });
  const answered = await seedCampaign(database, {
    contacts: 1,
    number: () => 14_155_550_101,
    campaign: { retry_policy: [] },
  });
  const refused = await seedCampaign(database, { contacts: 1, number: () => 14_155_550_150 });
  await database.close();
  await until(() => said().includes('a campaign is completed') && said().includes('a call has failed'));
  const first = (msg: string) => lines().find((line) => line['msg'] === msg);
  expect(first('a campaign is completed')).toMatchObject({
    workspace: toId('ws', answered.workspaceId),
    campaign: toId('cmp', answered.campaignId),
  });
  expect(first('a call has failed')).toMatchObject({
    workspace: toId('ws', refused.workspaceId),
    campaign: toId('cmp', refused.campaignId),
    call: expect.stringMatching(/^room_/),
    outcome: 'trunk_error',
  });

  const before = said().length;
  await front.become('gone');
  await until(() => said().includes('the database can not be reached; all that needs it waits'));
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await front.become('open');
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 200);
  await until(() => said().includes('the database can be reached again'));
  const ofOutage = lines().slice(before);
  expect(ofOutage).toMatchObject([
    {
      msg: 'the database can not be reached; all that needs it waits',
      reason: expect.stringContaining('ECONNREFUSED'),
    },
    { msg: 'the database can be reached again', seconds: expect.any(Number) },
  ]);

  await server.stop();
  await fresh.drop();
});
