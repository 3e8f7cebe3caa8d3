import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addContacts } from '../../../src/dialing/campaigns/add-contacts.ts';
import { readStats } from '../../../src/dialing/campaigns/campaign-stats.ts';
import { changeHoursOfWorkspace } from '../../../src/dialing/campaigns/change-hours.ts';
import { claimContacts } from '../../../src/dialing/campaigns/claim/claim-contacts.ts';
import { openReasonCounts } from '../../../src/dialing/campaigns/count-reasons.ts';
import { createCampaign } from '../../../src/dialing/campaigns/create-campaign.ts';
import type { ContactReason } from '../../../src/dialing/campaigns/explain-contact.ts';
import { type ContactQuery, contactPage } from '../../../src/dialing/campaigns/list-contacts.ts';
import { moveCampaign } from '../../../src/dialing/campaigns/move-campaign.ts';
import { campaignCallOwner } from '../../../src/dialing/campaigns/own-calls.ts';
import { previewCampaign } from '../../../src/dialing/campaigns/preview/preview-campaign.ts';
import { startCampaign } from '../../../src/dialing/campaigns/start-campaign.ts';
import { findCampaign } from '../../../src/dialing/campaigns/store.ts';
import { updateCampaign } from '../../../src/dialing/campaigns/update-campaign.ts';
import type { EngineTx, WorkspaceTx } from '../../../src/foundation/database/database.ts';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { byTest } from '../../by-test.ts';
import { meanwhile } from '../../race.ts';
import { type SeededEntry, seedList } from '../../seed/list.ts';
import { seedPool } from '../../seed/pool.ts';
import { type Given, seedRow } from '../../seed/rows.ts';
import { seedNumber, seedWorkspace, setKillSwitch } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';
import { campaignDeps } from './campaign-deps.ts';

type Input = Parameters<typeof createCampaign>[2];

let under: Awaited<ReturnType<typeof campaignDeps>>;
beforeAll(async () => {
  under = await campaignDeps(testClock(noon, { stands: true }));
});
afterAll(() => under.close());

/** Noon in UTC on a Friday. */
const noon = new Date('2026-11-20T12:00:00.000Z');
/** Of each workspace another, as a number is one's alone. */
let fromNumber = '';
let nextLine = 1000;

/** A campaign over these lists in a workspace of its own. */
async function seed(
  lists: { entries: SeededEntry[]; role?: 'contacts' | 'dnd'; columns?: string[] }[],
  given: Partial<Input> = {},
  number: Parameters<typeof seedNumber>[3] = {},
) {
  const workspaceId = await seedWorkspace(under.database);
  fromNumber = `+1415555${nextLine++}`;
  await seedNumber(under.database, workspaceId, fromNumber, number);
  const used = [];
  for (const { entries, role = 'contacts', columns = [] } of lists) {
    used.push({ id: toId('list', await seedList(under.database, workspaceId, entries, { columns })), role });
  }
  const input = { name: 'x', agentId: 'a', fromNumber, lists: used, ...given } as Input;
  const { id } = (await createCampaign(under.deps, workspaceId, input, byTest)).made;
  const begin = () => startCampaign(under.deps, workspaceId, id, byTest(id));
  const add = () => addContacts(under.database, { workspaceId, campaignId: id }, noon);
  const inTx = <T>(act: (tx: WorkspaceTx) => Promise<T>) => under.database.inWorkspace(workspaceId, act);
  return {
    workspaceId,
    id,
    begin,
    add,
    start: async () => {
      await begin();
      while (await add());
    },
    row: () => inTx(async (tx) => (await findCampaign(tx, id))!),
    reasons: (counts = openReasonCounts()) =>
      inTx(async (tx) => counts.read(tx, (await findCampaign(tx, id))!, { ...under.deps, now: noon })),
    stats: () => inTx(async (tx) => readStats(tx, (await findCampaign(tx, id))!, noon)),
    /** The numbers that a claim calls. */
    claim: async (now: Date) => {
      const { id: serverId } = await seedRow(under.database, 'servers');
      const terms = { serverId, free: 50, now, isSimulated: () => true, operator: noOperatorLimits };
      const { calls } = await claimContacts(under.database, { workspaceId, campaignId: id }, terms, async () => {});
      return calls.map(({ toNumber }) => toNumber);
    },
    update: (input: Parameters<typeof updateCampaign>[3]) =>
      updateCampaign(under.deps, workspaceId, id, input, byTest(id)),
    move: (name: Parameters<typeof moveCampaign>[3]) => moveCampaign(under.deps, workspaceId, id, name, byTest(id)),
    /** Changes contacts, or the campaign's counters. */
    write: (text: string) => inTx((tx) => sql.raw(text.replaceAll('$id', `'${id}'`)).execute(tx.db)),
    contacts: (query: Partial<ContactQuery> = {}) =>
      inTx(async (tx) => {
        const asked = {
          page: 1,
          perPage: 100,
          order: 'asc' as const,
          searchText: undefined,
          states: undefined,
          reason: undefined,
          ...query,
        };
        const { rows: items, totalCount } = await contactPage(tx, (await findCampaign(tx, id))!, asked, {
          ...under.deps,
          now: noon,
        });
        return { items, totalCount };
      }),
    preview: (size = 20) =>
      inTx(async (tx) =>
        previewCampaign(tx, (await findCampaign(tx, id))!, size, {
          ...under.deps,
          now: noon,
        }),
      ),
  };
}

const numbers = (count: number, first = 14155550200): SeededEntry[] =>
  Array.from({ length: count }, (_, at) => ({ phone_number: first + at }));

describe('contacts', () => {
  test('keep their own time zones where an entry is erased while they are added', async () => {
    const entries = Array.from({ length: 6 }, (_, at) => ({
      phone_number: at % 2 === 0 ? 14155550201 + at : 12125550201 + at,
    }));
    const campaign = await seed([{ entries }]);
    await campaign.begin();
    const erase = async ({ db }: EngineTx) => {
      await sql`lock table campaign_lanes in exclusive mode`.execute(db);
      await sql`delete from contact_list_entries where phone_number = 14155550203`.execute(db);
    };
    await meanwhile(under.database, erase, campaign.add);
    const { rows } = await under.database.inEngine(({ db }) =>
      sql<{ phone_number: number; timezones: string[] }>`
        select c.phone_number, l.timezones from campaign_contacts c
          join campaign_lanes l on l.campaign_id = c.campaign_id and l.lane = c.lane
        where c.campaign_id = ${campaign.id} order by c.phone_number`.execute(db),
    );
    expect(rows).toEqual([
      ...[12125550202, 12125550204, 12125550206].map((each) => ({
        phone_number: each,
        timezones: ['America/New_York'],
      })),
      ...[14155550201, 14155550205].map((each) => ({ phone_number: each, timezones: ['America/Los_Angeles'] })),
    ]);
  });

  test('bear the columns of their list, its name apart', async () => {
    const entries = [
      { phone_number: 14155550201, name: 'Ada', values: ['24 November', null] },
      { phone_number: 14155550202, values: ['25 November', 'Berlin'] },
    ];
    const campaign = await seed([{ entries, columns: ['appointment', 'city'] }]);
    expect(await campaign.contacts()).toEqual({ items: [], totalCount: 0 });
    await campaign.start();
    const { items, totalCount } = await campaign.contacts();
    expect(totalCount).toBe(2);
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^cc_/),
        phoneNumber: '+14155550201',
        name: 'Ada',
        variables: { appointment: '24 November' },
        state: 'pending',
        attempts: 0,
        nextAttemptAt: noon.toISOString(),
        roomIds: [],
      },
      expect.objectContaining({
        phoneNumber: '+14155550202',
        variables: { appointment: '25 November', city: 'Berlin' },
      }),
    ]);
    expect(items[1]).not.toHaveProperty('name');
  });

  test('are paged, counted by the counters, and searched by number and name literally', async () => {
    const entries = [
      ...numbers(5),
      { phone_number: 14155550299, name: '100% Ada' },
      { phone_number: 14155550298, name: '100 Ada' },
    ];
    const campaign = await seed([{ entries }]);
    await campaign.start();
    await campaign.write(
      `update campaign_contacts set state = 'done' where campaign_id = $id and phone_number in (14155550200, 14155550201)`,
    );
    await campaign.write(`update campaigns set pending = 5, done = 2 where id = $id`);
    expect(await campaign.contacts({ page: 2, perPage: 4 })).toMatchObject({ totalCount: 7, items: [{}, {}, {}] });
    expect(await campaign.contacts({ order: 'desc', perPage: 1 })).toMatchObject({
      items: [{ phoneNumber: '+14155550298' }],
    });
    expect(await campaign.contacts({ states: ['done'], perPage: 1 })).toMatchObject({
      totalCount: 2,
      items: [{ phoneNumber: '+14155550200' }],
    });
    expect((await campaign.contacts({ states: ['done', 'pending', 'done'] })).items).toHaveLength(7);
    expect(await campaign.contacts({ states: ['done', 'waiting'], perPage: 1 })).toMatchObject({ totalCount: 2 });
    expect((await campaign.contacts({ searchText: '100% a' })).items).toMatchObject([{ name: '100% Ada' }]);
    expect(await campaign.contacts({ searchText: '+1415555020' })).toMatchObject({ totalCount: 5 });
    expect(await campaign.contacts({ searchText: '555020', states: ['done'] })).toMatchObject({ totalCount: 2 });
  });

  test('name their calls, oldest first', async () => {
    const campaign = await seed([{ entries: numbers(1) }]);
    await campaign.start();
    const call = (
      attempt: number,
      at: string,
    ) => `insert into calls (workspace_id, id, status, outcome, direction, simulated, from_number, to_number, agent_id,
        phone_number_id, campaign_id, owner_kind, owner_id, attempt, start_at, dialed_at, place_before, ring_timeout_seconds, max_call_seconds, queued_at, ended_at)
      select c.workspace_id, '00000000-0000-0000-0000-00000000000${9 - attempt}', 'failed', 'busy', 'outbound', true, 1, c.phone_number, 'a', n.id, c.campaign_id, 'contact', c.id,
        ${attempt}, '${at}', '${at}', '${at}', 1, 1, '${at}', '${at}'
      from campaign_contacts c join phone_numbers n on n.workspace_id = c.workspace_id where c.campaign_id = $id`;
    await campaign.write(call(1, '2026-11-20'));
    await campaign.write(call(2, '2026-11-20'));
    await campaign.write(`update campaign_contacts set attempt = 2, last_outcome = 'busy' where campaign_id = $id`);
    expect((await campaign.contacts()).items).toMatchObject([
      { attempts: 2, lastOutcome: 'busy', roomIds: [`room_${'8'.padStart(32, '0')}`, `room_${'7'.padStart(32, '0')}`] },
    ]);
  });

  test('are counted in the answer of the start: all of one list, and of several each once when they are taken', async () => {
    const one = await seed([{ entries: numbers(3) }, { entries: numbers(2), role: 'dnd' }]);
    expect((await one.begin()).row.total_contacts).toBe(3);
    expect((await one.contacts()).totalCount).toBe(0);
    const two = await seed([{ entries: numbers(3) }, { entries: numbers(4) }]);
    expect((await two.begin()).row.total_contacts).toBe(7);
    const totals = [];
    while (await two.add()) totals.push((await two.stats()).totalContacts);
    expect(totals).toEqual([7, 4]);
    expect((await two.contacts()).totalCount).toBe(4);
  });

  test('count as called when their call is placed, not when it waits for its start or never reached a provider', async () => {
    const campaign = await seed([{ entries: numbers(3) }]);
    await campaign.start();
    const { items } = await campaign.contacts();
    const call = (at: number, given: Given<'calls'>) =>
      seedRow(under.database, 'calls', {
        workspace_id: campaign.workspaceId,
        campaign_id: campaign.id,
        owner_kind: 'contact',
        owner_id: fromId(items[at]!.id),
        to_number: Number(items[at]!.phoneNumber.slice(1)),
        direction: 'outbound',
        ...given,
      });
    const dialed = { dialed_at: noon, attempt: 1 };
    await call(0, { status: 'dialing', ...dialed });
    await call(1, { status: 'queued', attempt: 1 });
    await call(2, { status: 'cancelled', outcome: 'cancelled', ended_by: 'error', ended_at: noon, ...dialed });
    await campaign.write(`update campaign_contacts set state = 'dialing', attempt = 1 where campaign_id = $id`);
    await campaign.write(`update campaigns set pending = 0, in_flight = 3, attempts = 2 where id = $id`);
    expect((await campaign.stats()).attempts).toBe(1);
    expect((await campaign.contacts()).items.map(({ attempts }) => attempts)).toEqual([1, 0, 0]);
  });

  test('filtered by a reason are those that are given it, in every situation', async () => {
    const reasons: ContactReason[] = [
      'outside_window',
      'retry_later',
      'already_on_a_call',
      'do_not_call',
      'retries_exhausted',
      'campaign_paused',
      'campaign_stopped',
      'campaign_ended',
      'target_reached',
      'dialing_paused',
      'quiet_hours',
    ];
    // Noon in UTC is open, in Tokyo it is 21:00, in Honolulu 02:00.
    const entries = numbers(15).map((entry, at) => ({
      ...entry,
      timezone: ['UTC', 'Asia/Tokyo', 'Pacific/Honolulu'][at % 3]!,
    }));
    const campaign = await seed([{ entries }], { scheduleStart: 540, scheduleEnd: 1300, targetCallCount: 1 });
    await campaign.start();
    await campaign.write(`update workspaces set quiet_hours_start = 1250, quiet_hours_end = 1300`);
    const set = (state: string, reason: string | null, at: string, from: number) =>
      campaign.write(`update campaign_contacts set state = '${state}', reason = ${reason && `'${reason}'`}, next_attempt_at = '${at}'
        where campaign_id = $id and phone_number between ${14155550200 + from} and ${14155550202 + from}`);
    await set('waiting', 'retry_later', '2026-11-20T13:00:00Z', 3);
    await set('waiting', 'already_on_a_call', '2026-11-20T11:00:00Z', 6);
    await set('skipped', 'do_not_call', '2026-11-20T11:00:00Z', 9);
    await set('done', 'retries_exhausted', '2026-11-20T11:00:00Z', 12);

    const compare = async () => {
      const all = (await campaign.contacts()).items;
      const given = new Set<string>();
      for (const reason of reasons) {
        const found = await campaign.contacts({ reason });
        const expected = all.filter((contact) => contact.reason === reason).map(({ phoneNumber }) => phoneNumber);
        expect([reason, found.items.map(({ phoneNumber }) => phoneNumber)]).toEqual([reason, expected]);
        expect(found.totalCount).toBe(expected.length);
        if (expected.length > 0) given.add(reason);
      }
      const { notYet, never } = await campaign.reasons();
      const hasEnded = ['stopped', 'completed'].includes((await campaign.row()).status);
      const countOf = (contacts: typeof all) =>
        Object.fromEntries(
          [...given].flatMap((reason) => {
            const { length } = contacts.filter((contact) => contact.reason === reason);
            return length > 0 ? [[reason, length]] : [];
          }),
        );
      const isLeft = ({ state }: (typeof all)[number]) => !hasEnded && (state === 'pending' || state === 'waiting');
      expect(notYet).toEqual(countOf(all.filter(isLeft)));
      expect(never).toEqual(countOf(all.filter((contact) => !isLeft(contact))));
      return given;
    };
    const kept = ['do_not_call', 'retries_exhausted'];
    expect(await compare()).toEqual(
      new Set([...kept, 'outside_window', 'quiet_hours', 'retry_later', 'already_on_a_call']),
    );
    await setKillSwitch(under.database, campaign.workspaceId, noon);
    expect(await compare()).toEqual(new Set([...kept, 'dialing_paused']));
    await campaign.move('pause');
    expect(await compare()).toEqual(new Set([...kept, 'campaign_paused']));
    await campaign.move('stop');
    expect(await compare()).toEqual(new Set([...kept, 'campaign_stopped']));
    await campaign.write(`update campaigns set status = 'completed' where id = $id`);
    expect(await compare()).toEqual(new Set([...kept, 'campaign_ended']));
    await campaign.write(`update campaigns set answered = 1 where id = $id`);
    expect(await compare()).toEqual(new Set([...kept, 'target_reached']));
  });
});

test('the reasons of a large campaign are counted once in a while', async () => {
  const campaign = await seed([{ entries: numbers(2) }]);
  await campaign.start();
  await campaign.write(`update campaigns set total_contacts = 10000 where id = $id`);
  let elapsed = 0;
  const counts = openReasonCounts(() => elapsed);
  const skip = (number: number) =>
    campaign.write(`update campaign_contacts set state = 'skipped', reason = 'do_not_call'
      where campaign_id = $id and phone_number = ${number}`);
  await skip(14155550200);
  const [first, beside] = await Promise.all([campaign.reasons(counts), campaign.reasons(counts)]);
  expect(first).toEqual({ notYet: {}, never: { do_not_call: 1 }, countedAt: noon.toISOString() });
  expect(beside).toBe(first);
  await skip(14155550201);
  elapsed = 1999;
  expect(await campaign.reasons(counts)).toBe(first);
  elapsed = 2000;
  expect((await campaign.reasons(counts)).never).toEqual({ do_not_call: 2 });
});

describe('who is not called now', () => {
  /** The reasons that contacts are given, filtered by each as well. */
  async function reasonsOf(campaign: Awaited<ReturnType<typeof seed>>) {
    const { items } = await campaign.contacts();
    const reasons = [...new Set(items.map(({ reason }) => reason))];
    for (const reason of reasons) {
      const { totalCount } = await campaign.contacts({ reason });
      expect(totalCount).toBe(items.filter((item) => item.reason === reason).length);
    }
    return { reasons, next: items.map(({ nextAttemptAt }) => nextAttemptAt) };
  }

  test("is told of the day's limit, and that the next day is the earliest", async () => {
    const campaign = await seed([{ entries: numbers(3) }]);
    await campaign.start();
    expect((await reasonsOf(campaign)).reasons).toEqual([undefined]);
    await campaign.write(`update workspaces set max_calls_per_day = 5`);
    await campaign.write(
      `insert into workspace_usage (workspace_id, day, calls) values ('${campaign.workspaceId}', '2026-11-20', 5)`,
    );
    const tomorrow = '2026-11-21T00:00:00.000Z';
    expect(await reasonsOf(campaign)).toEqual({
      reasons: ['limit_reached'],
      next: [tomorrow, tomorrow, tomorrow],
    });
    expect((await campaign.preview()).sample[0]).toMatchObject({ reason: 'limit_reached', nextAttemptAt: tomorrow });
  });

  test.each([
    ['max_concurrency', `update campaigns set in_flight = 10, max_concurrency = 10 where id = $id`],
    [
      'the answers that it wants',
      `update campaigns set in_flight = 2, answered = 3, target_call_count = 5 where id = $id`,
    ],
    ['the pace', `update campaigns set calls_per_second = 1, next_start_at = '2026-11-20T12:00:01Z' where id = $id`],
  ])('is told of a limit of the campaign: %s', async (_, full) => {
    const campaign = await seed([{ entries: numbers(1) }]);
    await campaign.start();
    await campaign.write(full);
    const { reasons, next } = await reasonsOf(campaign);
    expect(reasons).toEqual(['limit_reached']);
    expect(next[0]).toBe(full.includes('next_start_at') ? '2026-11-20T12:00:01.000Z' : noon.toISOString());
  });

  test("is told of calls that are up: the workspace's, or those of each number of the pool", async () => {
    const campaign = await seed([{ entries: numbers(1) }]);
    await campaign.start();
    const { poolId, memberIds } = await seedPool(under.database, campaign.workspaceId, [{}], {
      max_concurrent_per_number: 1,
    });
    const call = { workspace_id: campaign.workspaceId, phone_number_id: memberIds[0]!, to_number: 14155550999 };
    await seedRow(under.database, 'calls', { ...call, from_number: 1, direction: 'outbound' });
    expect((await reasonsOf(campaign)).reasons).toEqual([undefined]);
    await campaign.write(`update workspaces set max_concurrent_calls = 1`);
    expect((await reasonsOf(campaign)).reasons).toEqual(['limit_reached']);
    await campaign.write(`update workspaces set max_concurrent_calls = null`);
    await campaign.write(`update campaigns set phone_number_id = null, number_pool_id = '${poolId}' where id = $id`);
    expect((await reasonsOf(campaign)).reasons).toEqual(['limit_reached']);
    await campaign.write(`update phone_numbers set provider = 'sip'`);
    expect((await reasonsOf(campaign)).reasons).toEqual(['no_caller_id']);
  });

  test('is told of an agent that has as many calls up as it takes', async () => {
    const campaign = await seed([{ entries: numbers(1) }]);
    await campaign.start();
    const of = { workspace_id: campaign.workspaceId };
    const { id } = await seedRow(under.database, 'agents', { ...of, max_concurrent_calls: 1 });
    await campaign.write(`update campaigns set agent_id = '${toId('agent', id)}' where id = $id`);
    expect((await reasonsOf(campaign)).reasons).toEqual([undefined]);
    await seedRow(under.database, 'calls', { ...of, phone_number_id: id, to_number: 1, limited_agent_id: id });
    expect((await reasonsOf(campaign)).reasons).toEqual(['limit_reached']);
  });

  test('is told of a number whose provider is not configured', async () => {
    const campaign = await seed([{ entries: numbers(1) }]);
    await campaign.start();
    await campaign.write(`update phone_numbers set provider = 'telnyx'`);
    expect((await reasonsOf(campaign)).reasons).toEqual(['no_caller_id']);
  });
});

describe('a preview', () => {
  test('tells how many hours are left where numbers may be in several time zones', async () => {
    const known = { phone_number: 14155550101, timezone: 'Asia/Tokyo' };
    const people = [...numbers(2, 16055550100), ...numbers(3, 61412345670), known];
    const campaign = await seed([{ entries: people }], { scheduleStart: 540, scheduleEnd: 1020 });
    const { sharedHours, callable } = await campaign.preview();
    expect(callable).toBe(6);
    expect(sharedHours).toMatchObject([
      { contacts: 3, timezones: expect.arrayContaining(['Australia/Perth', 'Australia/Sydney']), openMinutes: 3360 },
      {
        contacts: 2,
        timezones: ['America/Denver', 'America/North_Dakota/Center'],
        openMinutes: 3360,
        sharedMinutes: 7 * 7 * 60,
      },
    ]);
    // Nine in Cocos, at half past six, is three in the afternoon in Sydney in summer; five there is half past twelve.
    expect(sharedHours[0]!.sharedMinutes).toBe(7 * 210);
    await campaign.start();
    expect((await campaign.preview()).sharedHours).toEqual(sharedHours);
  });
});

describe('new hours of a campaign that has begun', () => {
  const dakota = (count: number) => numbers(count, 16055550100);
  const at = (time: string) => new Date(`2026-11-20T${time}Z`);

  /** Central or Mountain time: no hour from nine to ten is common to both. One more is known to be in UTC. */
  async function leftOut() {
    const campaign = await seed([{ entries: [...dakota(2), { phone_number: 14155550101, timezone: 'UTC' }] }], {
      scheduleStart: 540,
      scheduleEnd: 600,
    });
    expect(await campaign.preview()).toMatchObject({ callable: 1, leftOut: { no_common_hour: 2 } });
    await campaign.start();
    expect(await campaign.claim(noon)).toEqual([]);
    expect(await campaign.stats()).toMatchObject({ pending: 1, skipped: 2 });
    expect(await campaign.preview()).toMatchObject({ callable: 1, leftOut: { no_common_hour: 2 } });
    return campaign;
  }

  test('call whom no hour was common for, where one is now', async () => {
    const campaign = await leftOut();
    await campaign.move('pause');
    await campaign.update({ scheduleEnd: 1020 });
    while (await campaign.add());
    expect(await campaign.stats()).toMatchObject({ pending: 3, skipped: 0 });
    await campaign.move('resume');
    expect(await campaign.claim(at('15:59:59'))).toEqual([14155550101]);
    expect((await campaign.claim(at('16:00:00'))).toSorted()).toEqual([16055550100, 16055550101]);
    expect(await campaign.stats()).toMatchObject({ pending: 0, dialing: 3, skipped: 0 });
  });

  test('leave them out again where none is, and nobody else out', async () => {
    const campaign = await leftOut();
    await campaign.move('pause');
    await campaign.update({ scheduleEnd: 599 });
    expect(await campaign.preview()).toMatchObject({ callable: 1, leftOut: { no_common_hour: 2 } });
    while (await campaign.add());
    expect(await campaign.stats()).toMatchObject({ pending: 3, skipped: 0 });
    expect(await campaign.preview()).toMatchObject({ callable: 1, leftOut: { no_common_hour: 2 } });
    await campaign.move('resume');
    expect(await campaign.claim(noon)).toEqual([]);
    expect(await campaign.stats()).toMatchObject({ pending: 1, skipped: 2 });
  });

  test('may be a time zone of its own, where it had one that an older version took', async () => {
    const campaign = await seed([{ entries: numbers(2, 61412345670) }], { calleeTimeZone: 'campaign' });
    await campaign.begin();
    await campaign.write(`update campaigns set timezone = 'PST' where id = $id`);
    while (await campaign.add());
    expect(await campaign.preview()).toMatchObject({ callable: 0, leftOut: { invalid_time_zone: 2 } });
    expect(await campaign.claim(noon)).toEqual([]);
    expect(await campaign.stats()).toMatchObject({ pending: 0, skipped: 2 });
    await campaign.move('pause');
    await campaign.update({ timezone: 'europe/berlin' });
    while (await campaign.add());
    await campaign.move('resume');
    expect((await campaign.claim(noon)).toSorted()).toEqual([61412345670, 61412345671]);
  });

  test('may be those of the workspace, also while it runs, and another calleeTimeZone', async () => {
    const quiet = async (campaign: Awaited<ReturnType<typeof seed>>, windows: unknown[]) => {
      await campaign.write(`update workspaces set quiet_windows = '${JSON.stringify(windows)}'`);
      await under.database.inWorkspace(campaign.workspaceId, changeHoursOfWorkspace);
    };
    const campaign = await seed(
      [{ entries: dakota(1) }, { entries: [{ phone_number: 14155550101, timezone: 'UTC' }] }],
      {
        scheduleStart: 540,
        scheduleEnd: 660,
      },
    );
    const everyDay = [1, 2, 3, 4, 5, 6, 7];
    await quiet(campaign, [{ days: everyDay, start: 600, end: 660 }]);
    await campaign.start();
    expect(await campaign.claim(noon)).toEqual([]);
    expect(await campaign.stats()).toMatchObject({ skipped: 1, pending: 1 });
    await quiet(campaign, []);
    while (await campaign.add());
    expect(await campaign.claim(at('16:00:00'))).toEqual([16055550100]);

    const other = await leftOut();
    await other.move('pause');
    await other.update({ calleeTimeZone: 'campaign', timezone: 'America/Denver' });
    while (await other.add());
    await other.move('resume');
    expect((await other.claim(at('16:30:00'))).toSorted()).toEqual([16055550100, 16055550101]);
  });

  test('hold for a campaign that is resumed before its contacts have come to their new lanes', async () => {
    const campaign = await seed([{ entries: numbers(2, 18085550100) }], {
      timezone: 'America/New_York',
      calleeTimeZone: 'campaign',
      scheduleStart: 540,
      scheduleEnd: 1020,
    });
    await campaign.start();
    await campaign.move('pause');
    await campaign.update({ calleeTimeZone: 'strictest' });
    await campaign.move('resume');
    expect(await campaign.claim(at('15:00:00'))).toEqual([]);
    while (await campaign.add());
    expect(await campaign.claim(at('15:00:01'))).toEqual([]);
    expect(await campaign.stats()).toMatchObject({ pending: 2 });
    expect((await campaign.claim(at('19:00:00'))).toSorted()).toEqual([18085550100, 18085550101]);
  });
});

describe('preview', () => {
  test('of a draft counts each number once, and tells who is left out', async () => {
    const campaign = await seed([
      { entries: numbers(6) },
      { entries: numbers(6, 14155550203) },
      { entries: numbers(2, 14155550201), role: 'dnd' },
    ]);
    await seedRow(under.database, 'do_not_call', { workspace_id: campaign.workspaceId, phone_number: 14155550205 });
    const { callable, leftOut, sample } = await campaign.preview();
    expect({ callable, leftOut }).toEqual({ callable: 6, leftOut: { do_not_call: 3 } });
    expect(sample.map(({ phoneNumber }) => phoneNumber).toSorted()).toEqual(
      numbers(9).map((entry) => `+${entry.phone_number}`),
    );
    expect(
      sample
        .filter(({ reason }) => reason === 'do_not_call')
        .map(({ phoneNumber }) => phoneNumber)
        .toSorted(),
    ).toEqual([14155550201, 14155550202, 14155550205].map((number) => `+${number}`));
    expect(sample.find(({ reason }) => reason === undefined)).toEqual({
      phoneNumber: '+14155550200',
      fromNumber,
      nextAttemptAt: noon.toISOString(),
    });
    for (const { reason, ...contact } of sample) if (reason) expect(Object.keys(contact)).toEqual(['phoneNumber']);
    expect((await campaign.contacts()).totalCount).toBe(0);
  });

  test('agrees with what is then dialled: as many contacts are pending as were callable or left out', async () => {
    const campaign = await seed([{ entries: numbers(30) }, { entries: numbers(4, 14155550228), role: 'dnd' }]);
    const before = await campaign.preview();
    await campaign.start();
    expect(await campaign.preview()).toMatchObject({ callable: before.callable, leftOut: before.leftOut });
    expect((await campaign.contacts()).totalCount).toBe(before.callable + before.leftOut.do_not_call!);
  });

  test('a small sample still shows somebody who is left out', async () => {
    const campaign = await seed([{ entries: numbers(100) }, { entries: numbers(1, 14155550299), role: 'dnd' }]);
    const { sample } = await campaign.preview(5);
    expect(sample).toHaveLength(5);
    expect(sample.at(-1)).toEqual({ phoneNumber: '+14155550299', reason: 'do_not_call' });
    await campaign.start();
    expect((await campaign.preview(5)).sample.at(-1)).toEqual({ phoneNumber: '+14155550299', reason: 'do_not_call' });
  });

  test('countries that the workspace or the number may not call are left out', async () => {
    const entries = [
      { phone_number: 14155550201 },
      { phone_number: 14165550123 },
      { phone_number: 493012345678 },
      { phone_number: 447911123456 },
    ];
    const campaign = await seed([{ entries }], {}, { allowed_outbound_countries: ['US', 'DE'] });
    expect(await campaign.preview()).toMatchObject({ callable: 2, leftOut: { country_not_allowed: 2 } });
    await campaign.write(`update workspaces set allowed_countries = '{US,CA}'`);
    const { callable, leftOut, sample } = await campaign.preview();
    expect({ callable, leftOut }).toEqual({ callable: 1, leftOut: { country_not_allowed: 3 } });
    expect(sample.find(({ fromNumber: from }) => from)!.phoneNumber).toBe('+14155550201');
  });

  test('the window and the pace say when', async () => {
    const entries = numbers(4).map((entry, at) => ({ ...entry, timezone: at === 1 ? 'UTC' : 'Asia/Tokyo' }));
    const campaign = await seed([{ entries }], { scheduleStart: 540, scheduleEnd: 1080, callsPerSecond: 2 });
    expect((await campaign.preview()).sample).toMatchObject([
      { phoneNumber: '+14155550201', nextAttemptAt: '2026-11-20T12:00:00.000Z' },
      { nextAttemptAt: '2026-11-21T00:00:00.000Z', reason: 'outside_window' },
      { nextAttemptAt: '2026-11-21T00:00:00.500Z', reason: 'outside_window' },
      { nextAttemptAt: '2026-11-21T00:00:01.000Z', reason: 'outside_window' },
    ]);
  });

  test('beyond what the agent takes at once it tells that others wait', async () => {
    const campaign = await seed([{ entries: numbers(4) }]);
    const of = { workspace_id: campaign.workspaceId };
    const { id } = await seedRow(under.database, 'agents', { ...of, max_concurrent_calls: 3 });
    await seedRow(under.database, 'calls', { ...of, phone_number_id: id, to_number: 1, limited_agent_id: id });
    await campaign.write(`update campaigns set agent_id = '${toId('agent', id)}' where id = $id`);
    const { callable, sample } = await campaign.preview();
    expect(callable).toBe(4);
    expect(sample.map(({ reason }) => reason)).toEqual([undefined, undefined, 'limit_reached', 'limit_reached']);
  });

  test('a scheduled campaign calls from its time on', async () => {
    const campaign = await seed([{ entries: numbers(1) }], { scheduledAt: '2026-12-01T08:00:00.000Z' });
    await campaign.start();
    expect(await campaign.preview()).toMatchObject({
      callable: 1,
      sample: [{ nextAttemptAt: '2026-12-01T08:00:00.000Z' }],
    });
  });

  test('without a number that can call, nobody is', async () => {
    const campaign = await seed([{ entries: numbers(3) }], {}, { status: 'suspended' });
    const { callable, leftOut, sample } = await campaign.preview(1);
    expect({ callable, leftOut, sample }).toEqual({
      callable: 0,
      leftOut: { no_caller_id: 3 },
      sample: [{ phoneNumber: '+14155550200', reason: 'no_caller_id' }],
    });
  });

  test('after the start it tells what is left, retries that are due first; after the end nobody', async () => {
    const campaign = await seed([{ entries: numbers(5) }]);
    await campaign.start();
    await campaign.write(
      `update campaign_contacts set state = 'waiting', reason = 'retry_later', next_attempt_at = '2026-11-20T11:59:00Z' where campaign_id = $id and phone_number = 14155550204`,
    );
    await campaign.write(
      `update campaign_contacts set state = 'skipped', reason = 'country_not_allowed' where campaign_id = $id and phone_number = 14155550203`,
    );
    await campaign.write(
      `update campaign_contacts set state = 'done' where campaign_id = $id and phone_number = 14155550200`,
    );
    await campaign.write(`update campaigns set pending = 2, waiting = 1, skipped = 1, done = 1 where id = $id`);
    const { callable, leftOut, sample } = await campaign.preview();
    expect({ callable, leftOut }).toEqual({ callable: 3, leftOut: { country_not_allowed: 1 } });
    expect(sample.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550204', '+14155550201', '+14155550202']);
    await campaign.move('stop');
    expect(await campaign.preview()).toMatchObject({
      callable: 0,
      leftOut: { country_not_allowed: 1, campaign_stopped: 3 },
      sample: [{ reason: 'campaign_stopped' }, { reason: 'campaign_stopped' }, { reason: 'campaign_stopped' }],
    });
  });
});

describe('the word of a list', () => {
  const word = (entries: SeededEntry[], at: number, given: SeededEntry) =>
    entries.map((entry, index) => (index === at ? { ...entry, ...given } : entry));

  test('has nobody called whom any list of the campaign forbids, whichever it was that was taken first', async () => {
    const people = numbers(4);
    const campaign = await seed([
      { entries: word(people, 1, { do_not_call: true }) },
      { entries: word(people.slice(2), 0, { do_not_call: true }) },
    ]);
    const { callable, leftOut, sample } = await campaign.preview();
    expect({ callable, leftOut }).toEqual({ callable: 2, leftOut: { do_not_call: 2 } });
    expect(sample.map(({ reason }) => reason)).toEqual([undefined, 'do_not_call', 'do_not_call', undefined]);
    await campaign.start();
    expect(await campaign.preview()).toMatchObject({ callable: 2, leftOut: { do_not_call: 2 } });
    expect((await campaign.claim(noon)).sort()).toEqual([14155550200, 14155550203]);
    const { items } = await campaign.contacts({ reason: 'do_not_call' });
    expect(items.map(({ phoneNumber, state }) => [phoneNumber, state])).toEqual([
      ['+14155550201', 'skipped'],
      ['+14155550202', 'skipped'],
    ]);
    expect(await campaign.stats()).toMatchObject({ skipped: 2, dialing: 2 });
  });

  test('holds for the campaigns of its list alone, and in the role dnd as ever for all of them', async () => {
    const other = await seed([{ entries: numbers(2) }]);
    await seedList(under.database, other.workspaceId, word(numbers(2), 0, { do_not_call: true }));
    await other.start();
    expect(await other.claim(noon)).toHaveLength(2);
    const dnd = await seed([
      { entries: numbers(3) },
      { entries: word(numbers(2), 0, { do_not_call: true }), role: 'dnd' },
    ]);
    await dnd.start();
    expect(await dnd.claim(noon)).toEqual([14155550202]);
  });

  test('holds if it comes to the list once the campaign runs', async () => {
    const campaign = await seed([{ entries: numbers(2) }]);
    await campaign.start();
    await campaign.write(`update contact_list_entries set do_not_call = true where phone_number = 14155550200
      and upload_id = (select u.id from contact_list_uploads u join campaign_lists l on l.list_id = u.list_id
        where l.campaign_id = $id)`);
    await campaign.write(`update contact_list_uploads set has_do_not_call = true where list_id in
      (select list_id from campaign_lists where campaign_id = $id)`);
    expect(await campaign.claim(noon)).toEqual([14155550201]);
  });

  test('lets no campaign start that would call nobody', async () => {
    const campaign = await seed([{ entries: numbers(1).map((entry) => ({ ...entry, do_not_call: true })) }]);
    await expect(campaign.begin()).rejects.toMatchObject({
      code: 'campaign_not_startable',
      message: expect.stringContaining('by the word of their lists'),
    });
  });
});

describe('requireConsent', () => {
  const yes = { consent: { given: true, source: 'form' } };
  const no = { consent: { given: false } };
  const agreed = (...consents: object[]) =>
    numbers(consents.length).map((entry, at) => ({ ...entry, ...consents[at] }));

  test('calls those alone who have agreed; of two lists one no is a no', async () => {
    const lists = [
      { entries: agreed(yes, no, {}, yes, yes) },
      { entries: agreed({}, yes, yes, no, { do_not_call: true }) },
    ];
    const campaign = await seed(lists, { requireConsent: true });
    const left = { callable: 2, leftOut: { no_consent: 2, do_not_call: 1 } };
    const { sample, ...counts } = await campaign.preview();
    expect(counts).toMatchObject(left);
    expect(sample.map(({ reason }) => reason)).toEqual([
      undefined,
      'no_consent',
      undefined,
      'no_consent',
      'do_not_call',
    ]);
    await campaign.start();
    expect(await campaign.preview()).toMatchObject(left);
    expect((await campaign.claim(noon)).sort()).toEqual([14155550200, 14155550202]);
    const { items } = await campaign.contacts({ reason: 'no_consent' });
    expect(items.map(({ phoneNumber, state }) => [phoneNumber, state])).toEqual([
      ['+14155550201', 'skipped'],
      ['+14155550203', 'skipped'],
    ]);
    expect(await campaign.stats()).toMatchObject({ skipped: 3, dialing: 2 });
  });

  test('is asked again before a claimed call is placed', async () => {
    const campaign = await seed([{ entries: agreed(yes, yes) }], { requireConsent: true });
    await campaign.start();
    expect(await campaign.claim(noon)).toHaveLength(2);
    await campaign.write(`update contact_list_entries set consent = '{"given": false}' where phone_number = 14155550200
      and upload_id = (select u.id from contact_list_uploads u join campaign_lists l on l.list_id = u.list_id
        where l.campaign_id = $id)`);
    const nothing = async () => {};
    const { mayBePlaced } = campaignCallOwner({ onFinished: nothing, onPaused: nothing }, () => {});
    const { rows } = await under.database.inEngine(({ db }) =>
      sql<{ to_number: number }>`
        select to_number from calls c where c.campaign_id = ${campaign.id} and ${mayBePlaced(noon)}`.execute(db),
    );
    expect(rows).toEqual([{ to_number: 14155550201 }]);
  });

  test('is off by itself, and can be changed until the start', async () => {
    const campaign = await seed([{ entries: agreed(no, {}, yes) }]);
    expect(await campaign.preview()).toMatchObject({ callable: 3 });
    expect(await campaign.update({ requireConsent: true })).toMatchObject({ require_consent: true });
    expect(await campaign.preview()).toMatchObject({ callable: 1, leftOut: { no_consent: 2 } });
    await campaign.start();
    await campaign.move('pause');
    await expect(campaign.update({ requireConsent: false })).rejects.toMatchObject({ code: 'invalid_state' });
  });

  test('lets no campaign start to which nobody has agreed, and says so', async () => {
    const campaign = await seed([{ entries: agreed(no, {}) }], { requireConsent: true });
    await expect(campaign.begin()).rejects.toMatchObject({
      code: 'campaign_not_startable',
      message: expect.stringContaining('requireConsent'),
    });
  });
});
