import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { firstDueRun } from '../../../src/dialing/workflows/runs/claim-runs.ts';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

/** Asleep soon, and for so long that only what is tested here can end it. */
const quiet = { awakeMs: 500, longestMs: 3_600_000 };
const HOUR_MS = 3_600_000;
const fromNumber = '+14155550100';

const asked: { at: number; text: string }[] = [];
let server: TestServer;
let workspaceId: string;

beforeAll(async () => {
  const { query } = pg.Client.prototype;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...given: unknown[]) {
    const [config] = given as [string | { text: string }];
    asked.push({ at: performance.now(), text: typeof config === 'string' ? config : config.text });
    return (query as (...all: unknown[]) => unknown).apply(this, given) as never;
  });
  server = await startTestServer({ quiet, config: { simulatorSpeed: 100 } });
  workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
  await seedNumber(server.database, workspaceId, fromNumber);
});
afterAll(async () => {
  await server.stop();
  vi.restoreAllMocks();
});

/** When campaigns were looked at for a claim last: ten times a second while the loops are awake. */
const lastClaimAt = () =>
  asked.findLast(({ text }) => text.includes('order by row_number() over (partition by c.workspace_id'))?.at ??
  performance.now();
const untilAsleep = () => until(() => performance.now() - lastClaimAt() > 3 * quiet.awakeMs);
const hourAway = () => new Date(server.clock.now().getTime() + HOUR_MS);
const one = async <T>(query: string): Promise<T> => {
  const { rows } = await server.database.inEngine(({ db }) => sql.raw<{ one: T }>(query).execute(db));
  return rows[0]!.one;
};

test('a server that has nothing to do asks the database for little', async () => {
  await untilAsleep();
  const from = performance.now();
  await until(() => performance.now() - from > 5000);
  const statements = asked.filter(({ at }) => at > from).length / 5;
  // One look for all loops, and what leases and takeovers need; begin and commit count too. Awake they are 237.
  expect(statements).toBeLessThan(20);
});

test('a request wakes the loops of all servers, by word', async () => {
  await untilAsleep();
  const from = performance.now();
  const { response } = await server.client.PATCH('/v1/workspace', { body: { name: 'Woken' } });
  expect(response.status).toBe(200);
  // Nothing is due, and a server hears its own word as others do.
  await until(() => lastClaimAt() > from);
});

test('a call that was asked for is placed at its time', async () => {
  const { data, error } = await server.client.POST('/v1/calls', {
    body: {
      ...{ agentId: 'agent_reception', fromNumber, toNumber: '+14155553000' },
      scheduledAt: hourAway().toISOString(),
    },
  });
  expect(error).toBeUndefined();
  await untilAsleep();
  server.clock.advance(HOUR_MS);
  await until(() => one<boolean>(`select exists (select from calls where id = '${fromId(data!.roomId)}') as one`));
});

test('what was written without a word is found: a campaign with contacts to add, and to call', async () => {
  await untilAsleep();
  const { campaignId } = await seedCampaign(server.database, { contacts: 3 });
  const calls = () => one<number>(`select count(*) as one from calls where campaign_id = '${campaignId}'`);
  await until(async () => (await calls()) === 3);
});

test('a webhook delivery is found at its time', async () => {
  // Its secret can't be read: the endpoint rests after the first look.
  const webhookId = await seedWebhook(server.database, workspaceId, ['call.ended']);
  const webhook = { workspace_id: workspaceId, webhook_id: webhookId };
  await seedRow(server.database, 'webhook_deliveries', { ...webhook, next_attempt_at: hourAway() });
  await untilAsleep();
  server.clock.advance(HOUR_MS);
  await until(() => one<boolean>(`select resting_until is not null as one from webhooks`));
});

test('runs are due at the time of the first, or since its signal has come', async () => {
  const dueAt = async () => {
    const { rows } = await server.database.inEngine(({ db }) =>
      sql<{ at: Date }>`select (${firstDueRun}) as at`.execute(db),
    );
    return rows[0]!.at;
  };
  expect(await dueAt()).toBe(null);
  const [told, at] = [new Date('2026-01-01T00:00:00Z'), hourAway()];
  const run = { workspace_id: workspaceId, workflow_id: newUuid(), node_id: 'later' };
  await seedRow(server.database, 'workflow_runs', { ...run, due_at: new Date(at.getTime() + HOUR_MS) });
  const { id } = await seedRow(server.database, 'workflow_runs', { ...run, due_at: at });
  expect(await dueAt()).toEqual(at);
  const seen = await server.database
    .inEngine(async ({ db }) => {
      const signal = { workspace_id: workspaceId, run_id: id, source: newUuid(), data: {}, created_at: told };
      await db
        .insertInto('run_signals')
        .values(signal as never)
        .execute();
      const { rows } = await sql<{ at: Date }>`select (${firstDueRun}) as at`.execute(db);
      throw Object.assign(new Error('undone'), rows[0]);
    })
    .catch((error: { at: Date }) => error.at);
  expect(seen).toEqual(told);
});

test('a campaign starts at its time, and ends at its end', async () => {
  const { campaignId } = await seedCampaign(server.database, {
    contacts: 0,
    campaign: { status: 'scheduled', scheduled_at: hourAway() },
  });
  const hasStatus = (status: string) =>
    one<boolean>(`select status = '${status}' as one from campaigns where id = '${campaignId}'`);
  await untilAsleep();
  expect(await hasStatus('scheduled')).toBe(true);
  server.clock.advance(HOUR_MS);
  await until(async () => !(await hasStatus('scheduled')));
  const ending = await seedCampaign(server.database, {
    contacts: 0,
    campaign: { status: 'paused', contacts_added: true, end_date: hourAway() },
  });
  await untilAsleep();
  server.clock.advance(HOUR_MS);
  await until(() =>
    one<boolean>(`select status = 'completed' as one from campaigns where id = '${ending.campaignId}'`),
  );
});
