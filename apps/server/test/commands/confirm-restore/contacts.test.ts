import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { toId } from '../../../src/foundation/values/ids.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { until } from '../../until.ts';
import { expectEachCalledOnce, goOn, type Installation, installation, workspaceOf } from './restored.ts';

const MINUTES = 60_000;
/** A callee of the simulator's who is always busy. */
const BUSY = 14_155_550_186;

/** An installation whose server has stopped. */
async function stopped(): Promise<{ place: Installation; workspaceId: string }> {
  const place = await installation();
  const workspaceId = await workspaceOf(await place.serve());
  await place.backUp();
  return { place, workspaceId };
}

test('contacts whom the campaign had not taken from its lists yet are found by their numbers', async () => {
  const { place, workspaceId } = await stopped();
  const { campaignId } = await seedCampaign(place.database(), { workspaceId, contacts: 20 });
  await place.backUp();
  const server = await place.serve();
  await until(async () => expect((await campaignRow(server.database, campaignId)).done).toBeGreaterThan(5));
  await place.restore();
  expect(await place.confirm('--dry-run')).toMatch(/has still to take from its lists, to be looked for then: \d+/);
  expect((await campaignRow(place.database(), campaignId)).contacts_added).toBe(false);
  await place.confirm();
  const after = await campaignRow(place.database(), campaignId);
  expect(after).toMatchObject({ contacts_added: true, total_contacts: 20 });
  expect(after.unknown).toBe((await place.provider()).length);
  const again = await place.serve();
  if (after.status === 'paused') await goOn(again, campaignId);
  await expectEachCalledOnce(place);
  expect(await place.provider()).toHaveLength(20);
});

test('calls of a campaign that the database does not have are told, by workspace', async () => {
  const { place, workspaceId } = await stopped();
  const server = await place.serve();
  const { campaignId } = await seedCampaign(server.database, { workspaceId, contacts: 3 });
  await until(async () => expect((await campaignRow(server.database, campaignId)).status).toBe('completed'));
  await place.restore();
  const told = await place.confirm();
  expect(told).toContain(`workspace Default (${toId('ws', workspaceId)}):`);
  expect(told).toContain(
    `${toId('cmp', campaignId)}, which this database does not have: calls of whom this database does not have, so that nothing can be marked: 3`,
  );
  expect(told).toContain('Confirmed: the database is older than its witness.');
});

test('a contact that was tried again after the backup counts every attempt, and is tried no more', async () => {
  const { place, workspaceId } = await stopped();
  const before = await place.serve();
  const campaign = { retry_policy: [5, 5, 5] };
  const { campaignId } = await seedCampaign(before.database, {
    workspaceId,
    contacts: 1,
    number: () => BUSY,
    campaign,
  });
  await until(async () => expect((await campaignRow(before.database, campaignId)).waiting).toBe(1));
  await place.backUp();
  const server = await place.serve();
  for (const attempts of [2, 3]) {
    server.clock.advance(6 * MINUTES);
    await until(async () =>
      expect(await campaignRow(server.database, campaignId)).toMatchObject({ attempts, waiting: 1 }),
    );
  }
  await place.restore();
  await place.confirm();
  const { rows } = await place
    .database()
    .inEngine(({ db }) =>
      sql`select state, attempt, reason from campaign_contacts where campaign_id = ${campaignId}`.execute(db),
    );
  expect(rows).toEqual([{ state: 'done', attempt: 3, reason: 'outcome_unknown' }]);
  expect(await campaignRow(place.database(), campaignId)).toMatchObject({
    ...{ status: 'completed', attempts: 3, busy: 1, unknown: 2, done: 1, waiting: 0, in_flight: 0 },
  });
});

test('a call that was claimed before the backup and placed after it ends as one that nobody knows of', async () => {
  const { place, workspaceId } = await stopped();
  const before = await place.serve({ simulatorSpeed: 1 });
  const { campaignId } = await seedCampaign(before.database, { workspaceId, contacts: 1 });
  await until(async () => expect((await place.provider()).length).toBe(1));
  await place.backUp();
  // As it was right before its placement: the provider has not heard of it, and the witness has.
  await place.rewind();
  expect(await place.confirm()).toContain('calls to mark: 1');
  expect(await campaignRow(place.database(), campaignId)).toMatchObject({
    done: 1,
    unknown: 1,
    in_flight: 0,
    attempts: 1,
  });
});
