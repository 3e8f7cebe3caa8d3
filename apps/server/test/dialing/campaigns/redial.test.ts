import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { returnContacts } from '../../../src/dialing/campaigns/end-contacts.ts';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedRow } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

/** At these lines of any area the simulator's callees are busy, answer, don't answer, are a voicemail, or talk for a week. */
const lines = { busy: 186, answered: 101, no_answer: 108, voicemail: 117, talking: 102 } as const;

let server: TestServer;
let workspaceId: string;
let area = 0;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 1000 } });
  workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
});
afterAll(() => server.stop());
/** So that nobody is called in two tests. */
beforeEach(() => {
  area += 10;
});

const numberOf = (line: keyof typeof lines, at = 0) => 12_005_550_000 + lines[line] + (area + at) * 10_000_000;

/** A campaign of these people, in the order in which they are named. */
async function seeded(people: (keyof typeof lines)[], campaign: Record<string, unknown> = {}) {
  const { campaignId } = await seedCampaign(server.database, {
    contacts: people.length,
    workspaceId,
    number: (i) => numberOf(people[i]!, i),
    campaign: { max_concurrency: 1, ...campaign },
  });
  return of(toId('cmp', campaignId));
}

/** What a test does with a campaign. */
function of(id: string) {
  const path = { id };
  const { client } = server;
  const read = async () => (await client.GET('/v1/calls/campaigns/{id}', { params: { path } })).data!.data;
  const contacts = async () =>
    (await client.GET('/v1/calls/campaigns/{id}/contacts', { params: { path, query: { order: 'asc' } } })).data!.data
      .items;
  return {
    id,
    read,
    contacts,
    stats: async () => (await client.GET('/v1/calls/campaigns/{id}/stats', { params: { path } })).data!.data,
    redial: async (body: object = {}, key?: string) => {
      const header = key === undefined ? {} : { 'Idempotency-Key': key };
      return client.POST('/v1/calls/campaigns/{id}/contacts/redial', { params: { path, header }, body });
    },
    skip: (contactId: string) =>
      client.POST('/v1/calls/campaigns/{id}/contacts/{contactId}/skip', { params: { path: { id, contactId } } }),
    act: (name: 'start' | 'pause' | 'resume' | 'stop' | 'cancel') =>
      client.POST(`/v1/calls/campaigns/{id}/${name}`, { params: { path } }),
    come: (status: string) => until(async () => (await read()).status === status),
    write: (text: string) =>
      server.database.inWorkspace(workspaceId, ({ db }) =>
        sql.raw(text.replaceAll('$id', `'${fromId(id)}'`)).execute(db),
      ),
  };
}

/** The counters of the campaign's row are those of its contacts. */
async function expectCounted(campaign: ReturnType<typeof of>) {
  const stats = await campaign.stats();
  const states = (await campaign.contacts()).map(({ state }) => state);
  for (const state of ['pending', 'waiting', 'dialing', 'done', 'skipped'] as const)
    expect([state, stats[state]]).toEqual([state, states.filter((each) => each === state).length]);
}

/**
 * Asks while what it needs is locked; another may lock the campaign's row then.
 * @param meanwhile done once it waits
 */
async function whileHeld<T>(
  locking: RawBuilder<unknown>,
  { id }: ReturnType<typeof of>,
  ask: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T> {
  let asked: Promise<T> | undefined;
  await server.database.inEngine(async ({ db }) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
    await locking.execute(db);
    asked = ask();
    await waiting(1);
    await expectFree(id);
    await meanwhile();
  });
  return asked!;
}

/** So many wait for locks at least. */
const waiting = (count: number) =>
  until(async () => {
    const all = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const { rows } = await server.database.inEngine(({ db }) => all.execute(db));
    return rows.length >= count;
  });

/** Another may lock the row of a campaign. */
const expectFree = (id: string) =>
  server.database.inEngine(({ db }) =>
    sql`select from campaigns where id = ${fromId(id)} for no key update nowait`.execute(db),
  );

describe('a redial', () => {
  test('of a campaign that goes on has those wait again who were not reached, each for one more attempt', async () => {
    // Who waits for a retry keeps it from being completed.
    const campaign = await seeded(['busy', 'no_answer', 'answered', 'voicemail']);
    await campaign.come('completed');
    await campaign.write(`update campaigns set status = 'paused', ended_at = null where id = $id`);
    await campaign.write(`update campaign_contacts set last_outcome = 'unknown', reason = 'outcome_unknown'
      where campaign_id = $id and last_outcome = 'voicemail'`);
    const { data: counted } = await campaign.redial({ dryRun: true }, 'one');
    expect(counted!.data).toEqual({ contacts: 2, outcomes: { busy: 1, no_answer: 1 } });
    expect((await campaign.stats()).waiting).toBe(0);

    const [one, two] = await Promise.all([campaign.redial({}, 'one'), campaign.redial({}, 'one')]);
    const of2 = { contacts: 2, outcomes: { busy: 1, no_answer: 1 }, campaign: { id: campaign.id, status: 'paused' } };
    for (const { data } of [one, two]) expect(data!.data).toMatchObject(of2);
    expect([one, two].filter(({ response }) => response.headers.has('Idempotent-Replayed'))).toHaveLength(1);
    expect((await campaign.contacts()).map(({ state, reason }) => [state, reason])).toEqual([
      ['waiting', 'campaign_paused'],
      ['waiting', 'campaign_paused'],
      ['done', undefined],
      ['done', 'outcome_unknown'],
    ]);
    await expectCounted(campaign);
    // Who waits is not taken again, and an unknown outcome only by its name.
    expect((await campaign.redial()).data!.data).toEqual({ contacts: 0, outcomes: {} });
    expect((await campaign.redial({ outcomes: ['busy'] }, 'one')).error).toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect((await campaign.redial({ outcomes: ['unknown'] })).data!.data).toMatchObject({ contacts: 1 });

    await campaign.act('resume');
    await campaign.come('completed');
    const after = await campaign.contacts();
    expect(after.map(({ attempts }) => attempts)).toEqual([2, 2, 1, 2]);
    await expectCounted(campaign);
  });

  test('keeps to the caps of the workspace', async () => {
    const campaign = await seeded(['busy']);
    await campaign.come('completed');
    await campaign.write(`update campaigns set status = 'paused', ended_at = null where id = $id`);
    await campaign.write(`update workspaces set max_attempts_per_person_per_day = 1`);
    try {
      expect((await campaign.redial()).data!.data).toMatchObject({ contacts: 1 });
      await campaign.act('resume');
      await until(async () => (await campaign.contacts())[0]!.reason === 'limit_reached');
      expect((await campaign.contacts())[0]).toMatchObject({ state: 'waiting', attempts: 1 });
    } finally {
      await campaign.write('update workspaces set max_attempts_per_person_per_day = null');
      await campaign.act('stop');
    }
  });

  test('leaves out who answered and found no agent, who is not to be called, and who was skipped', async () => {
    const campaign = await seeded(['busy', 'busy', 'busy']);
    await campaign.come('completed');
    const [abandoned, forbidden, skipped] = await campaign.contacts();
    const set = (id: string, text: string) =>
      campaign.write(`update campaign_contacts set ${text} where campaign_id = $id and id = '${fromId(id)}'`);
    await set(abandoned!.id, `last_outcome = 'agent_error', reason = 'abandoned'`);
    await set(forbidden!.id, `last_outcome = 'cancelled', state = 'skipped', reason = 'do_not_call'`);
    await campaign.write('update campaigns set done = 2, skipped = 1 where id = $id');
    await campaign.skip(skipped!.id);
    const outcomes = ['agent_error', 'cancelled', 'busy'];
    expect((await campaign.redial({ outcomes, dryRun: true })).data!.data).toEqual({ contacts: 0, outcomes: {} });
    expect((await campaign.redial({ outcomes })).data!.data).toEqual({ contacts: 0, outcomes: {} });
  });

  test('of a campaign that has ended makes one draft, which calls them and nobody else', async () => {
    const campaign = await seeded(['busy', 'no_answer', 'answered'], { retry_policy: [1], status: 'paused' });
    await campaign.write(`update campaigns set retry_policy = '{}' where id = $id`);
    await campaign.act('resume');
    await campaign.come('completed');
    const [one, two] = await Promise.all([campaign.redial(), campaign.redial()]);
    expect([one.data!.data.contacts, two.data!.data.contacts].toSorted()).toEqual([0, 2]);
    const { campaign: draft } = [one, two].find(({ data }) => data!.data.contacts === 2)!.data!.data;
    expect(draft).toMatchObject({
      status: 'draft',
      redialOf: campaign.id,
      name: 'Campaign (redial)',
      totalContacts: 2,
    });
    const redial = of(draft!.id);
    expect((await redial.contacts()).map(({ phoneNumber }) => phoneNumber)).toEqual([
      `+${numberOf('busy')}`,
      `+${numberOf('no_answer', 1)}`,
    ]);
    const params = { params: { path: { id: redial.id } } };
    const { data: preview } = await server.client.POST('/v1/calls/campaigns/{id}/preview', params);
    expect(preview!.data).toMatchObject({ callable: 2, leftOut: {} });
    const change = { ...params, body: { lists: [{ id: draft!.lists[0]!.id, role: 'dnd' as const }] } };
    expect((await server.client.PATCH('/v1/calls/campaigns/{id}', change)).error).toMatchObject({
      code: 'invalid_state',
    });
    // Other time zones than those of the first campaign, and another hour.
    const zone = { ...params, body: { calleeTimeZone: 'campaign' as const, timezone: 'Asia/Tokyo' } };
    expect((await server.client.PATCH('/v1/calls/campaigns/{id}', zone)).data!.data).toMatchObject({ id: redial.id });

    expect((await redial.act('start')).data!.data).toMatchObject({ status: 'running', totalContacts: 2 });
    await redial.come('completed');
    await expectCounted(redial);
    expect((await redial.stats()).outcomes).toEqual({ busy: 1, no_answer: 1 });
    expect((await campaign.redial()).data!.data.contacts).toBe(0);
    expect((await redial.redial()).data!.data).toMatchObject({ contacts: 2, campaign: { redialOf: redial.id } });

    // Whom it has called is kept by its contacts.
    const remove = (id: string) => server.client.DELETE('/v1/calls/campaigns/{id}', { params: { path: { id } } });
    expect((await remove(redial.id)).error).toMatchObject({
      code: 'invalid_state',
      error: expect.stringContaining(campaign.id),
    });
    expect((await remove(campaign.id)).response.status).toBe(200);
    expect((await remove(redial.id)).response.status).toBe(200);
  });

  test('may be made again once the draft of the first one was cancelled, and answers a key as before', async () => {
    const campaign = await seeded(['busy']);
    await campaign.come('completed');
    const first = (await campaign.redial({}, 'first')).data!.data;
    await of(first.campaign!.id).act('cancel');
    const replayed = await campaign.redial({}, 'first');
    expect(replayed.data!.data).toMatchObject({
      contacts: 1,
      campaign: { id: first.campaign!.id, status: 'cancelled' },
    });
    const second = (await campaign.redial()).data!.data;
    expect(second).toMatchObject({ contacts: 1, outcomes: { busy: 1 } });
    expect(second.campaign!.id).not.toBe(first.campaign!.id);
    expect((await campaign.redial({ dryRun: true })).data!.data.contacts).toBe(0);
  });

  test('keeps nobody waiting who claims or ends calls of the campaign', async () => {
    const campaign = await seeded(['busy']);
    await campaign.come('completed');
    await campaign.write(`update campaigns set status = 'paused', ended_at = null where id = $id`);
    const contact = sql`select from campaign_contacts where campaign_id = ${fromId(campaign.id)} for update`;
    const [{ id } = { id: '' }] = await campaign.contacts();
    let skipped: ReturnType<typeof campaign.skip> | undefined;
    const skip = async () => {
      skipped = campaign.skip(id);
      await waiting(2);
      await expectFree(campaign.id);
    };
    const asked = await whileHeld(contact, campaign, () => campaign.redial(), skip);
    expect(asked.data!.data).toMatchObject({ contacts: 1 });
    expect((await skipped)!.data!.data).toMatchObject({ state: 'skipped', reason: 'skipped_by_user' });
    await expectCounted(campaign);
    await campaign.act('stop');
  });

  test('is undone if somebody is erased meanwhile, or the campaign has ended', async () => {
    const campaign = await seeded(['busy', 'busy']);
    await campaign.come('completed');
    const lists = sql`select from contact_lists where workspace_id = ${workspaceId} for update`;
    const [first] = await campaign.contacts();
    const erase = async () => {
      await campaign.write(`delete from campaign_contacts where campaign_id = $id and id = '${fromId(first!.id)}'`);
      await campaign.write('update campaigns set done = 1, total_contacts = 1 where id = $id');
    };
    const drafted = await whileHeld(lists, campaign, () => campaign.redial({}, 'once'), erase);
    expect(drafted.error).toMatchObject({ code: 'unavailable' });
    const again = (await campaign.redial({}, 'once')).data!.data;
    expect(again).toMatchObject({ contacts: 1, campaign: { totalContacts: 1 } });

    await of(again.campaign!.id).act('cancel');
    await campaign.write(`update campaigns set status = 'paused', ended_at = null where id = $id`);
    const contact = sql`select from campaign_contacts where campaign_id = ${fromId(campaign.id)} for update`;
    const end = () => campaign.act('stop');
    const late = await whileHeld(contact, campaign, () => campaign.redial(), end);
    expect(late.error).toMatchObject({ code: 'unavailable' });
    await expectCounted(campaign);
  });

  test('of who was never called is refused', async () => {
    const campaign = await seeded(['busy'], { status: 'draft' });
    expect((await campaign.redial()).error).toMatchObject({
      code: 'invalid_state',
      error: 'Only who was called can be redialled; this campaign is a draft.',
    });
    expect((await campaign.redial({ dryRun: true })).error).toMatchObject({ code: 'invalid_state' });
  });
});

describe('a contact that is skipped', () => {
  test('before its call is never dialled, and the campaign ends without it', async () => {
    const campaign = await seeded(['answered', 'answered'], { status: 'paused' });
    await until(async () => (await campaign.contacts()).length === 2);
    const [first, second] = await campaign.contacts();
    const { data } = await campaign.skip(first!.id);
    expect(data!.data).toMatchObject({ id: first!.id, state: 'skipped', reason: 'skipped_by_user', attempts: 0 });
    expect((await campaign.skip(first!.id)).data!.data).toMatchObject({ state: 'skipped' });
    await expectCounted(campaign);
    expect((await campaign.stats()).reasons).toMatchObject({ never: { skipped_by_user: 1 } });
    await campaign.act('resume');
    await campaign.come('completed');
    expect(await campaign.contacts()).toMatchObject([{ attempts: 0 }, { attempts: 1 }]);
    expect((await campaign.skip(second!.id)).data!.data).toMatchObject({ state: 'skipped', attempts: 1 });
    await expectCounted(campaign);
    const unknown = await campaign.skip(toId('cc', '00000000-0000-0000-0000-000000000000'));
    expect(unknown.response.status).toBe(404);
  });

  test('as the last one ends a running campaign', async () => {
    const campaign = await seeded(['busy', 'busy'], { retry_policy: [1000] });
    await until(async () => (await campaign.stats()).waiting === 2);
    for (const { id } of await campaign.contacts()) await campaign.skip(id);
    await campaign.come('completed');
    await expectCounted(campaign);
  });

  test('during its call is not tried again', async () => {
    const campaign = await seeded(['talking'], { retry_policy: [1] });
    await until(async () => (await campaign.contacts())[0]?.state === 'dialing');
    const [contact] = await campaign.contacts();
    const { data } = await campaign.skip(contact!.id);
    expect(data!.data).toMatchObject({ state: 'dialing', reason: 'skipped_by_user' });
    expect((await campaign.stats()).reasons).toMatchObject({ never: { skipped_by_user: 1 } });
    // Without that, who turned out to be a machine would be tried again.
    const path = { roomId: contact!.roomIds[0]! };
    await server.client.POST('/v1/calls/{roomId}/result', { params: { path }, body: { answeredBy: 'machine' } });
    await server.client.POST('/v1/calls/{roomId}/end', { params: { path } });
    await campaign.come('completed');
    expect(await campaign.contacts()).toMatchObject([
      { state: 'skipped', reason: 'skipped_by_user', attempts: 1, lastOutcome: 'voicemail' },
    ]);
    await expectCounted(campaign);
  });

  test('during its call stays so, however the call ends: it may not be redialled, nor called a machine later', async () => {
    const campaign = await seeded(['talking'], { retry_policy: [1] });
    await until(async () => (await campaign.contacts())[0]?.state === 'dialing');
    const [contact] = await campaign.contacts();
    await campaign.skip(contact!.id);
    await server.client.POST('/v1/calls/{roomId}/end', { params: { path: { roomId: contact!.roomIds[0]! } } });
    await campaign.come('completed');
    expect(await campaign.contacts()).toMatchObject([
      { state: 'skipped', reason: 'skipped_by_user', lastOutcome: expect.stringMatching('answered|cancelled') },
    ]);
    await expectCounted(campaign);
  });

  test('while its call waits for its start has that withdrawn', async () => {
    const campaign = await seeded(['busy'], { status: 'paused', calls_per_second: 1 });
    await until(async () => (await campaign.contacts()).length === 1);
    const [contact] = await campaign.contacts();
    const owner = { kind: 'contact', id: fromId(contact!.id) };
    const { id: roomId } = await seedRow(server.database, 'calls', {
      ...{ workspace_id: workspaceId, status: 'queued', owner_kind: owner.kind, owner_id: owner.id },
      ...{ campaign_id: fromId(campaign.id), to_number: numberOf('busy') },
    });
    await campaign.write(`update campaign_contacts set state = 'dialing', attempt = 1 where campaign_id = $id`);
    await campaign.write('update campaigns set pending = 0, in_flight = 1, attempts = 1 where id = $id');
    expect((await campaign.skip(contact!.id)).data!.data).toMatchObject({ state: 'dialing', attempts: 0 });
    const ask = sql<{ asked: boolean }>`select end_requested_at is not null as asked from calls where id = ${roomId}`;
    const { rows } = await server.database.inEngine(({ db }) => ask.execute(db));
    expect(rows).toEqual([{ asked: true }]);
    // As its server does with what may not be placed.
    const returned = { workspaceId, roomId, campaignId: fromId(campaign.id), owner, attemptTakenBack: true };
    await server.database.inEngine(async (tx) => {
      await sql`delete from calls where id = ${roomId}`.execute(tx.db);
      await returnContacts(tx, { workspaceId, campaignId: fromId(campaign.id) }, [returned as never], new Date());
    });
    expect(await campaign.contacts()).toMatchObject([{ state: 'skipped', reason: 'skipped_by_user', attempts: 0 }]);
    await expectCounted(campaign);
  });
});
