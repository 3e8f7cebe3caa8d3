import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moveBatch } from '../../../src/dialing/batches/move-batch.ts';
import { startBatch } from '../../../src/dialing/batches/start-batch.ts';
import { campaignTransitions } from '../../../src/dialing/campaigns/campaign.ts';
import { createCampaign } from '../../../src/dialing/campaigns/create-campaign.ts';
import { deleteCampaign } from '../../../src/dialing/campaigns/delete-campaign.ts';
import { eraseContacts } from '../../../src/dialing/campaigns/erase-contacts.ts';
import { hasEnded } from '../../../src/dialing/campaigns/explain-contact.ts';
import { moveCampaign } from '../../../src/dialing/campaigns/move-campaign.ts';
import { startCampaign, startDueCampaign } from '../../../src/dialing/campaigns/start-campaign.ts';
import { findCampaign } from '../../../src/dialing/campaigns/store.ts';
import { updateCampaign } from '../../../src/dialing/campaigns/update-campaign.ts';
import type { EngineTx } from '../../../src/foundation/database/database.ts';
import type { CampaignStatus } from '../../../src/foundation/database/schema.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import type { AgentConnection } from '../../../src/lines/telephony/agent-connection.ts';
import type { WitnessedWord } from '../../../src/platform/installation/witness.ts';
import { byTest } from '../../by-test.ts';
import { meanwhile } from '../../race.ts';
import { seedList } from '../../seed/list.ts';
import { insertRows } from '../../seed/rows.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';
import { campaignDeps } from './campaign-deps.ts';

let under: Awaited<ReturnType<typeof campaignDeps>>;
let workspaceId: string;
let list: string;
const now = new Date('2026-11-20T12:00:00.000Z');
const ahead = '2026-11-21T12:00:00.000Z';
const fromNumber = '+14155550100';

beforeAll(async () => {
  under = await campaignDeps(testClock(now, { stands: true }));
  workspaceId = await seedWorkspace(under.database);
  await seedNumber(under.database, workspaceId, fromNumber);
  list = toId('list', await seedList(under.database, workspaceId, [{ phone_number: 14155550101 }]));
});
afterAll(() => under.close());

const create = async (given: { scheduledAt?: string; agentId?: string; fromNumber?: string } = {}) => {
  const lists = [{ id: list, role: 'contacts' as const }];
  const { made: campaign } = await createCampaign(
    under.deps,
    workspaceId,
    { name: 'x', agentId: 'a', fromNumber, lists, ...given },
    byTest,
  );
  return campaign.id;
};
const read = (id: string) => under.database.inWorkspace(workspaceId, (tx) => findCampaign(tx, id));
const due = (id: string, agents = under.deps.agents, at = new Date(ahead)) =>
  startDueCampaign({ ...under.deps, agents })(under.database, { workspaceId, campaignId: id }, at);

/** What anybody can do to a campaign. */
const acts = {
  start: (id: string) => startCampaign(under.deps, workspaceId, id, byTest(id)),
  pause: (id: string) => moveCampaign(under.deps, workspaceId, id, 'pause', byTest(id)),
  resume: (id: string) => moveCampaign(under.deps, workspaceId, id, 'resume', byTest(id)),
  stop: (id: string) => moveCampaign(under.deps, workspaceId, id, 'stop', byTest(id)),
  unschedule: (id: string) => moveCampaign(under.deps, workspaceId, id, 'unschedule', byTest(id)),
  cancel: (id: string) => moveCampaign(under.deps, workspaceId, id, 'cancel', byTest(id)),
  update: (id: string) =>
    updateCampaign(under.deps, workspaceId, id, { name: 'y', scheduleStart: 1, scheduleEnd: 2 }, byTest(id)),
  due: (id: string) => due(id),
  dueWithoutAgent: (id: string) => due(id, { resolve: async () => undefined }),
};

test('whatever is asked in whatever order, a campaign only moves as its table says, and each move is one event', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[])), { minLength: 1, maxLength: 10 }),
      async (isScheduled, names) => {
        const id = await create(isScheduled ? { scheduledAt: ahead } : {});
        const passed: CampaignStatus[] = ['draft'];
        for (const name of names) {
          const before = (await read(id))!;
          const refused = await acts[name](id).then(
            () => undefined,
            (error: unknown) => error,
          );
          const after = (await read(id))!;
          if (refused) {
            expect(refused).toBeInstanceOf(ServiceError);
            expect(after).toEqual(before);
          }
          if (after.status !== before.status) {
            expect(campaignTransitions[before.status]).toContain(after.status);
            passed.push(after.status);
            expect(after.revision).toBe(before.revision + 1);
          }
          expect(after.ended_at !== null).toBe(hasEnded(after.status));
        }
        const { rows } = await under.database.inEngine(({ db }) =>
          sql<{ type: string }>`select type from events where resource_id = ${id} order by revision`.execute(db),
        );
        expect(rows.map(({ type }) => type)).toEqual(passed.map((status) => `campaign.${status}`));
      },
    ),
    { numRuns: 20 },
  );
});

test('a scheduled campaign whose agent cannot be reached when its time comes is paused before anybody is rung, but not one that was started by force', async () => {
  const telephone = '+14155550199';
  await seedNumber(under.database, workspaceId, telephone, { provider: 'sip', trunk: {} });
  const connection = { url: 'wss://agent.example' } as AgentConnection;
  const agents = { resolve: async (id: string) => ({ id, name: id, connection }) };
  let isAway = false;
  const deps = { ...under.deps, agents, askAgent: async () => (isAway ? 'It is away.' : undefined) };
  const statusAfter = async (force: boolean, away: boolean) => {
    const id = await create({ scheduledAt: ahead, fromNumber: telephone });
    isAway = false;
    await startCampaign(deps, workspaceId, id, byTest(id), force);
    isAway = away;
    await startDueCampaign(deps)(under.database, { workspaceId, campaignId: id }, new Date(ahead));
    const { rows } = await under.database.inEngine(({ db }) =>
      sql<{ type: string }>`select type from events where resource_id = ${id} order by revision`.execute(db),
    );
    return { reason: (await read(id))!.pause_reason, told: rows.map(({ type }) => type.replace('campaign.', '')) };
  };
  const told = ['draft', 'scheduled', 'running'];
  expect(await statusAfter(false, true)).toEqual({ reason: 'agent_failing', told: [...told, 'paused'] });
  expect(await statusAfter(false, false)).toEqual({ reason: null, told });
  expect(await statusAfter(true, true)).toEqual({ reason: null, told });
});

test('a pause that is asked for again is told to the witness again, for it may be asked for since that failed', async () => {
  const told: WitnessedWord[] = [];
  const guard = { tell: async (words: readonly WitnessedWord[]) => void told.push(...words), doubts: () => 0 };
  const deps = { ...under.deps, guard };
  const campaign = await create();
  await acts.start(campaign);
  const recipients = [{ phoneNumber: '+14155550102' }];
  const input = { agentId: 'a', fromNumber, recipients };
  const { started } = await startBatch(deps, { workspaceId, idempotencyKey: undefined, auditEntryOf: byTest, input });
  const batch = fromId(started.batchId);
  const moves = [
    () => moveCampaign(deps, workspaceId, campaign, 'pause', byTest(campaign)),
    () => moveBatch(deps, workspaceId, batch, 'cancel', byTest(batch)),
  ];
  for (const move of moves) {
    await move();
    await expect(move()).rejects.toMatchObject({ code: 'invalid_state' });
  }
  expect(told.map((word) => [word.type, 'campaignId' in word && word.campaignId])).toEqual([
    ...[0, 1].map(() => ['pause', campaign]),
    ...[0, 1].map(() => ['stop', batch]),
  ]);
  await acts.stop(campaign);
  await expect(moves[0]!()).rejects.toMatchObject({ code: 'invalid_state' });
  expect(told).toHaveLength(4);
});

test('of many who move a campaign at once, one does', async () => {
  const id = await create();
  await acts.start(id);
  const asked = await Promise.allSettled([acts.stop(id), acts.stop(id), acts.stop(id), acts.stop(id)]);
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

describe('a start', () => {
  test('has the dialer read the contact lists in their order', async () => {
    const [first, second] = [[{ phone_number: 14155550102 }], [{ phone_number: 14155550103 }]];
    const lists = [];
    for (const entries of [first, second])
      lists.push(toId('list', await seedList(under.database, workspaceId, entries)));
    lists.reverse();
    const id = await create();
    await updateCampaign(
      under.deps,
      workspaceId,
      id,
      { lists: lists.map((of) => ({ id: of, role: 'contacts' })) },
      byTest(id),
    );
    await acts.start(id);
    const started = (await read(id))!;
    const uploads = await under.database.inEngine(({ db }) =>
      db
        .selectFrom('contact_list_uploads')
        .select(['id', 'list_id'])
        .where('id', 'in', started.adding_uploads)
        .execute(),
    );
    const listOf = new Map(uploads.map((upload) => [upload.id, toId('list', upload.list_id)]));
    expect(started.adding_uploads.map((upload) => listOf.get(upload))).toEqual(lists);
    expect(started).toMatchObject({ contacts_added: false, started_at: now, next_claim_at: new Date(0) });
  });

  test('of a scheduled campaign is checked again at its time', async () => {
    const [good, bad] = [await create({ scheduledAt: ahead }), await create({ scheduledAt: ahead })];
    for (const id of [good, bad]) await acts.start(id);
    await due(good, under.deps.agents, new Date(ahead));
    await due(bad, { resolve: async () => undefined }, new Date(ahead));
    expect(await read(good)).toMatchObject({ status: 'running', started_at: new Date(ahead) });
    expect(await read(bad)).toMatchObject({
      status: 'failed',
      failure_reason: 'agent_unavailable',
      ended_at: new Date(ahead),
    });
    await due(bad);
    expect(await read(bad)).toMatchObject({ status: 'failed' });
  });

  test('of a scheduled campaign waits where that was changed since it was found due', async () => {
    const [later, other] = [await create({ scheduledAt: ahead }), await create({ scheduledAt: ahead })];
    for (const id of [later, other]) await acts.start(id);
    const change = (id: string, body: object) => updateCampaign(under.deps, workspaceId, id, body, byTest(id));
    await change(later, { scheduledAt: '2026-11-22T12:00:00.000Z' });
    await due(later);
    expect(await read(later)).toMatchObject({ status: 'scheduled' });
    const resolve = async () => {
      await change(other, { agentId: 'another' });
      return undefined;
    };
    await due(other, { resolve });
    expect(await read(other)).toMatchObject({ status: 'scheduled', agent_id: 'another' });
    for (const id of [later, other]) await due(id, under.deps.agents, new Date('2026-11-22T12:00:00.000Z'));
    for (const id of [later, other]) expect(await read(id)).toMatchObject({ status: 'running' });
  });

  test('waits for an agent directory that can not be asked', async () => {
    const id = await create({ scheduledAt: ahead });
    await acts.start(id);
    const broken = { resolve: () => Promise.reject(new ServiceError('unavailable', 'no')) };
    await expect(due(id, broken)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await read(id)).toMatchObject({ status: 'scheduled' });
  });
});

test('a deleted campaign leaves no contact behind, not even one that was being added', async () => {
  const id = await create();
  await acts.start(id);
  await acts.stop(id);
  const insertContact = (db: EngineTx['db'], contact: string, phoneNumber: number) =>
    insertRows(db, 'campaign_contacts', [
      { workspace_id: workspaceId, campaign_id: id, id: contact, phone_number: phoneNumber },
    ]);
  await under.database.inEngine(({ db }) => insertContact(db, newUuid(), 1));
  await meanwhile(
    under.database,
    // As add-contacts.ts does.
    async ({ db }) => {
      await sql`select pg_try_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(db);
      await insertContact(db, newUuid(), 2);
    },
    // So few contacts need no job.
    () => deleteCampaign({ ...under.deps, jobs: undefined as never }, workspaceId, id, byTest(id)),
  );
  for (const table of ['campaign_contacts', 'campaign_lists', 'campaign_lanes'] as const) {
    const left = await under.database.inEngine(({ db }) =>
      db.selectFrom(table).select('campaign_id').where('campaign_id', '=', id).execute(),
    );
    expect(left).toEqual([]);
  }
  expect(await read(id)).toBeUndefined();
});

test('contacts that others delete or change meanwhile keep none from being erased', async () => {
  const id = newUuid();
  await under.database.inEngine(({ db }) =>
    sql`
      insert into campaign_contacts (workspace_id, campaign_id, id, list_id, phone_number, "values", lane, state,
        next_attempt_at)
      select ${workspaceId}, ${id}, lpad(i::text, 32, '0')::uuid, gen_random_uuid(), 14155560000 + i, '{}', 1, 'done',
        'epoch' from generate_series(1, 5001) as i`.execute(db),
  );
  const erase = (after?: string) => under.database.inWorkspace(workspaceId, (tx) => eraseContacts(tx, id, after));
  const last = await meanwhile(
    under.database,
    async ({ db }) => {
      await sql`delete from campaign_contacts where campaign_id = ${id} and phone_number = 14155560007`.execute(db);
      await sql`
        update campaign_contacts set name = 'Ada' where campaign_id = ${id} and phone_number = 14155560008`.execute(db);
    },
    () => erase(),
  );
  expect(last).toMatch(/5000$/);
  expect(await erase(last)).toBeUndefined();
  const left = await under.database.inEngine(({ db }) =>
    sql`select from campaign_contacts where campaign_id = ${id}`.execute(db),
  );
  expect(left.rows).toEqual([]);
});
