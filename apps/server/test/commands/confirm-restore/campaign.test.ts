import { sql } from 'kysely';
import pg from 'pg';
import { expect, test } from 'vitest';
import { toId } from '../../../src/foundation/values/ids.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { until } from '../../until.ts';
import { expectEachCalledOnce, goOn, type Installation, installation, ready, workspaceOf } from './restored.ts';

const CONTACTS = 40;

/** A campaign of which some were called before a backup, and some more until it was put back. */
async function restoredInTheMiddle(place: Installation) {
  const server = await place.serve();
  const workspaceId = await workspaceOf(server);
  const campaign = { calls_per_second: 20 };
  const { campaignId } = await seedCampaign(server.database, { workspaceId, contacts: CONTACTS, campaign });
  await until(async () => expect((await place.provider()).length).toBeGreaterThan(8));
  await place.backUp();
  const later = await place.serve();
  await until(async () => expect((await place.provider()).length).toBeGreaterThan(18));
  return { workspaceId, campaignId, server: later };
}

/** Keeps a campaign's row from everybody else until the connection ends. */
async function lockCampaign(place: Installation, campaignId: string): Promise<pg.Client> {
  const client = new pg.Client(place.database().connection);
  await client.connect();
  await client.query(`begin; set local trunkline.engine = 'on'`);
  await client.query('select from campaigns where id = $1 for update', [campaignId]);
  return client;
}

test('nobody is called again whom the witness knows to have been called', async () => {
  const place = await installation();
  const { campaignId } = await restoredInTheMiddle(place);
  await place.restore();
  const server = await place.serve();
  expect(await ready(server)).toContain('dialing is held: the database is older than its witness');
  const calledBefore = (await place.provider()).length;

  const dry = await place.confirm('--dry-run');
  const lost = Number(/to be marked as placed: (\d+)/.exec(dry)![1]);
  expect(lost).toBeGreaterThan(0);
  expect(dry).toContain(`campaign Campaign (${toId('cmp', campaignId)}): calls to mark: ${lost}`);
  expect(await ready(server)).toContain('dialing is held');
  const before = await campaignRow(server.database, campaignId);

  const told = await place.confirm();
  expect(told).toContain(`to be marked as placed: ${lost}`);
  expect(told).toContain('Campaigns and batches that were paused: 1');
  const after = await campaignRow(server.database, campaignId);
  expect(after.attempts - before.attempts + (before.in_flight - after.in_flight)).toBeGreaterThan(0);
  expect(after.unknown).toBe(lost);
  expect(after.pending + after.waiting + after.in_flight + after.done + after.skipped).toBe(CONTACTS);

  await until(async () => expect(await ready(server)).toBe('ok\n'));
  await goOn(server, campaignId);
  await expectEachCalledOnce(place);
  expect((await place.provider()).length).toBe(CONTACTS);
  expect(calledBefore).toBeLessThan(CONTACTS);
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ count: number }>`select count(*) as count from campaign_contacts where reason = 'outcome_unknown'`.execute(
      db,
    ),
  );
  expect(rows[0]!.count).toBe(lost);
});

test('what forbade calls after the backup forbids them again: opt-outs by their numbers, pauses, stops', async () => {
  const place = await installation();
  const server = await place.serve();
  const workspaceId = await workspaceOf(server);
  expect((await server.client.POST('/v1/workspace/pause-dialing')).error).toBeUndefined();
  const seed = (contacts: number, first: number) =>
    seedCampaign(server.database, { workspaceId, contacts, number: (i) => first + i });
  const [paused, stopped, running] = [
    await seed(3, 14_153_000_000),
    await seed(3, 14_154_000_000),
    await seed(30, 14_155_000_000),
  ];
  await until(async () => expect((await campaignRow(server.database, running.campaignId)).pending).toBe(30));
  await place.backUp();
  const later = await place.serve();
  const { client } = later;
  const at = (campaignId: string) => ({ params: { path: { id: toId('cmp', campaignId) } } });
  const optOut = (...phoneNumbers: string[]) => client.POST('/v1/calls/do-not-call', { body: { phoneNumbers } });
  const added = await optOut('+14155000028', '+14155000029');
  expect(added.error).toBeUndefined();
  expect(added.data).toMatchObject({ added: 2 });
  expect((await client.POST('/v1/calls/campaigns/{id}/pause', at(paused.campaignId))).error).toBeUndefined();
  expect((await client.POST('/v1/calls/campaigns/{id}/stop', at(stopped.campaignId))).error).toBeUndefined();
  expect((await client.POST('/v1/workspace/pause-dialing')).error).toBeUndefined();
  await place.restore();

  const told = await place.confirm();
  expect(told).toContain('opt-outs to put back: 2');
  expect(told).toContain(`to pause again: campaign Campaign (${toId('cmp', paused.campaignId)})`);
  expect(told).toContain(`to stop again: campaign Campaign (${toId('cmp', stopped.campaignId)})`);
  expect(told).toContain('its owner had paused dialing');
  const database = place.database();
  expect((await campaignRow(database, paused.campaignId)).status).toBe('paused');
  expect((await campaignRow(database, stopped.campaignId)).status).toBe('stopped');

  const again = await place.serve();
  await goOn(again, running.campaignId);
  const called = (await place.provider()).map((call) => call.to);
  expect(called).toContain('+14155000027');
  expect(called).not.toContain('+14155000028');
  expect(called).not.toContain('+14155000029');
  await expectEachCalledOnce(place);
  // As of an erased person: nobody knows the number, until somebody names it.
  const params = { params: { path: { phoneNumber: '+14155000028' } } };
  expect((await again.client.DELETE('/v1/calls/do-not-call/{phoneNumber}', params)).error).toBeUndefined();
});

test('a confirmation that is killed in its middle is done again, and does nothing twice', async () => {
  const place = await installation();
  const { workspaceId, campaignId } = await restoredInTheMiddle(place);
  await place.restore();
  const marked = async () => (await campaignRow(place.database(), campaignId)).unknown;
  // Its row is waited for at the end, when all that runs is paused, and before nowhere.
  const other = await seedCampaign(place.database(), {
    workspaceId,
    contacts: 0,
    phoneNumber: { phone_number: '+14155550199' },
  });
  const locked = await lockCampaign(place, other.campaignId);
  await place.confirmAndKill(async () => (await marked()) > 0);
  await locked.end();
  const first = await marked();
  const server = await place.serve();
  expect(await ready(server)).toContain('dialing is held');
  expect(await place.confirm()).toContain('to be marked as placed: 0');
  expect(await marked()).toBe(first);
  expect(await place.confirm()).toContain('nothing to confirm');
  await until(async () => expect(await ready(server)).toBe('ok\n'));
  await goOn(server, campaignId);
  await expectEachCalledOnce(place);
});
