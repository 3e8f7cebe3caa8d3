import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { type CampaignServer, fromNumber, startCampaignServer } from '../campaigns/campaign-server.ts';

type StartBatch = components['schemas']['StartBatchFromNumber'];
type Recipient = components['schemas']['BatchRecipient'];

let under: CampaignServer;
let client: CampaignServer['client'];

beforeAll(async () => {
  under = await startCampaignServer();
  ({ client } = under);
});
afterAll(() => under.stop());

const path = '/v1/calls/batch';
const at = (batchId: string) => ({ params: { path: { batchId } } });
const byId = (id: string) => ({ params: { path: { id } } });
const person = (number: number, given: Partial<Recipient> = {}): Recipient => ({ phoneNumber: `+${number}`, ...given });
const people = (count: number) => Array.from({ length: count }, (_, i) => person(14155560000 + i));
const order = (given: Partial<StartBatch> = {}): StartBatch => ({
  agentId: 'agent_delivery',
  fromNumber,
  recipients: [person(14155550142)],
  ...given,
});
const send = (given: Partial<StartBatch> = {}, key?: string) =>
  client.POST(path, { body: order(given), params: { header: key === undefined ? {} : { 'Idempotency-Key': key } } });
const start = async (given: Partial<StartBatch> = {}) => {
  const { data, error } = await send(given);
  if (!data) throw new Error(JSON.stringify(error));
  return data;
};
const read = async (batchId: string) => (await client.GET(`${path}/{batchId}`, at(batchId))).data!;
const cancel = (batchId: string) => client.POST(`${path}/{batchId}/cancel`, at(batchId));
const count = async (table: 'batches' | 'campaigns' | 'contact_lists') => {
  const { rows } = await under.database.inEngine(({ db }) =>
    sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db),
  );
  return rows[0]!.n;
};

describe('start', () => {
  test('accepts recipients, and has the batch run at once with the defaults', async () => {
    const { response, data } = await send({ recipients: [person(14155550142, { externalId: 'order-7781' })] });
    expect(response.status).toBe(202);
    expect(data).toEqual({
      batchId: expect.stringMatching(/^bat_/),
      status: 'running',
      acceptedRecipients: [
        { index: 0, phoneNumber: '+14155550142', externalId: 'order-7781', contactId: expect.stringMatching(/^cc_/) },
      ],
      rejectedRecipients: [],
    });
    expect(response.headers.get('Idempotent-Replayed')).toBeNull();
    expect(await read(data!.batchId)).toEqual({
      batchId: data!.batchId,
      status: 'running',
      agentId: 'agent_delivery',
      fromNumber,
      timezone: 'UTC',
      calleeTimeZone: 'strictest',
      maxConcurrency: 10,
      retryPolicy: [],
      abandonedRetry: 'none',
      voicemailCounts: false,
      acceptedCount: 1,
      rejectedCount: 0,
      stats: {
        totalContacts: 1,
        pending: 1,
        waiting: 0,
        dialing: 0,
        done: 0,
        skipped: 0,
        attempts: 0,
        outcomes: {},
        talkSeconds: 0,
        conversions: 0,
        callsPerSecond: 0,
        startedAt: expect.any(String),
      },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  test('everything that is given comes back', async () => {
    const given = {
      name: 'Missed deliveries',
      metadata: { depot: 'Oakland' },
      scheduledAt: '2099-01-01T08:00:00.000Z',
      timezone: 'America/Los_Angeles',
      scheduleStart: 540,
      scheduleEnd: 1080,
      maxConcurrency: 500,
      retryPolicy: [15, 120],
      abandonedRetry: { afterHours: 72 },
      tags: ['oakland'],
    };
    const { batchId, status, scheduledAt } = await start(given);
    expect([status, scheduledAt]).toEqual(['scheduled', given.scheduledAt]);
    expect(await read(batchId)).toMatchObject({ ...given, status: 'scheduled' });
    const windows = { callingWindows: [{ days: [5, 6], start: 1080, end: 60 }], holidays: ['2026-12-25'] };
    const { scheduleStart, scheduleEnd, ...others } = given;
    expect(await read((await start({ ...others, ...windows })).batchId)).toMatchObject(windows);
    const past = await start({ scheduledAt: '2020-01-01T00:00:00.000Z' });
    expect(past.status).toBe('running');
  });

  test('judges each recipient for itself, and says why', async () => {
    await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: ['+14155550199'] } });
    await seedNumber(under.database, under.workspaceId, '+14155550120', { allowed_outbound_countries: ['US'] });
    const started = await start({
      fromNumber: '+14155550120',
      recipients: [
        person(14155550142, { name: 'Ada' }),
        { phoneNumber: '0800 CALL NOW', externalId: 'a' },
        person(14155550142),
        person(14155550199),
        person(14155550102),
        person(4930123456),
        person(14155550144, { metadata: { floor: 3 } }),
        person(14155550145, { externalId: 'last' }),
      ],
    });
    expect(started.acceptedRecipients.map(({ index, phoneNumber }) => [index, phoneNumber])).toEqual([
      [0, '+14155550142'],
      [7, '+14155550145'],
    ]);
    expect(started.acceptedRecipients[1]).toMatchObject({ externalId: 'last' });
    const sentence = expect.stringMatching(/^[A-Z].{10,}\.$/);
    expect(started.rejectedRecipients).toEqual([
      { index: 1, phoneNumber: '0800 CALL NOW', externalId: 'a', code: 'invalid_number', error: sentence },
      { index: 2, phoneNumber: '+14155550142', code: 'duplicate', error: sentence },
      { index: 3, phoneNumber: '+14155550199', code: 'do_not_call', error: sentence },
      { index: 4, phoneNumber: '+14155550102', code: 'do_not_call', error: sentence },
      { index: 5, phoneNumber: '+4930123456', code: 'country_not_allowed', error: sentence },
      { index: 6, phoneNumber: '+14155550144', code: 'invalid_metadata', error: sentence },
    ]);
    expect(await read(started.batchId)).toMatchObject({ acceptedCount: 2, rejectedCount: 6 });
  });

  test('rejects what is no recipient, and reads numbers by the default country', async () => {
    const recipients = [
      { phoneNumber: '(415) 555-0142' },
      { phoneNumber: null },
      { phoneNumber: 14155550143 },
      '+14155550144',
      person(14155550145, { colour: 'red' } as never),
      person(14155550146, { timezone: 'Mars/Olympus' }),
      person(14155550147, { name: 'n'.repeat(256), externalId: 'long' }),
    ] as Recipient[];
    const started = await start({ recipients, defaultCountry: 'US' });
    expect(started.acceptedRecipients).toMatchObject([{ index: 0, phoneNumber: '+14155550142' }]);
    expect(started.rejectedRecipients.map(({ phoneNumber, code }) => [phoneNumber, code])).toEqual([
      ['null', 'invalid_recipient'],
      ['14155550143', 'invalid_recipient'],
      ['', 'invalid_recipient'],
      ['+14155550145', 'invalid_recipient'],
      ['+14155550146', 'invalid_timezone'],
      ['+14155550147', 'invalid_recipient'],
    ]);
    expect(started.rejectedRecipients[5]).toMatchObject({ index: 6, externalId: 'long' });
  });

  test('is 202 and failed when nobody can be called', async () => {
    const { batchId, ...answer } = await start({
      recipients: [{ phoneNumber: 'x' }],
      scheduledAt: '2099-01-01T08:00:00.000Z',
    });
    expect(answer).toMatchObject({ status: 'failed', acceptedRecipients: [], rejectedRecipients: [{ index: 0 }] });
    expect(await read(batchId)).toMatchObject({
      status: 'failed',
      acceptedCount: 0,
      meta: { failure: { reason: 'no_callable_contacts' } },
    });
  });

  test.each<[string, Partial<StartBatch>, string]>([
    ['an agent that there is not', { agentId: 'agent_unknown' }, '/body/agentId'],
    ['a time zone that there is not', { timezone: 'Mars/Olympus' }, '/body/timezone'],
    ['a country that there is not', { defaultCountry: 'UK' }, '/body/defaultCountry'],
    ['recipients that are no list', { recipients: {} as never }, '/body/recipients'],
    ['half a window', { scheduleStart: 540 }, '/body/scheduleEnd'],
    [
      'windows beside their short form',
      { callingWindows: [{ days: [1], start: 0, end: 60 }], scheduleStart: 540, scheduleEnd: 600 },
      '/body/callingWindows',
    ],
    ['a window that ends at its start', { scheduleStart: 540, scheduleEnd: 540 }, '/body/scheduleEnd'],
    ['more at once than the server allows', { maxConcurrency: 501 }, '/body/maxConcurrency'],
    ['nobody', { recipients: [] }, '/body/recipients'],
    ['metadata of the batch that is no text', { metadata: { a: 1 as never } }, '/body/metadata/a'],
    ['a property that there is not', { colour: 'red' } as never, '/body/colour'],
    ['a pool beside the number', { numberPoolId: toId('pool', newUuid()) } as never, '/body'],
  ])('refuses %s', async (_, given, place) => {
    const before = await count('batches');
    const { response, error } = await send(given);
    expect([response.status, error!.code]).toEqual([400, 'invalid_request']);
    expect(error!.details!.map((each) => each.path)).toContain(place);
    expect(await count('batches')).toBe(before);
  });

  test('is 404 for a number or a pool that the workspace does not have', async () => {
    const other = await under.clientOf('Other', ['*']);
    const { agentId, recipients } = order();
    const answers = await Promise.all([
      send({ fromNumber: '+14155559999' }),
      other.POST(path, { body: order() }),
      client.POST(path, { body: { agentId, recipients, numberPoolId: toId('pool', newUuid()) } }),
    ]);
    expect(answers.map(({ response }) => response.status)).toEqual([404, 404, 404]);
    expect(answers.map(({ error }) => error!.details?.[0]?.path)).toEqual([
      '/body/fromNumber',
      '/body/fromNumber',
      '/body/numberPoolId',
    ]);
  });

  test('is 409 where no number is ready', async () => {
    await seedNumber(under.database, under.workspaceId, '+14155550121', { status: 'suspended' });
    await seedNumber(under.database, under.workspaceId, '+14155550122', {
      trunk: { status: 'paused', reason: 'unreachable' },
    });
    for (const number of ['+14155550121', '+14155550122']) {
      const { response, error } = await send({ fromNumber: number });
      expect([response.status, error!.code]).toEqual([409, 'campaign_not_startable']);
      expect(error!.error).toContain(number);
    }
  });
});

describe('from a pool', () => {
  const { agentId, recipients } = order();
  const poolOf = async (phoneNumberIds: string[]) => {
    const body = { name: 'Clinics', phoneNumberIds: phoneNumberIds.map((id) => toId('pn', id)) };
    return (await client.POST('/v1/number-pools', { body })).data!.data.id;
  };

  test('calls whom any of its numbers may call', async () => {
    const members = [
      await seedNumber(under.database, under.workspaceId, '+14155550131', { allowed_outbound_countries: ['US'] }),
      await seedNumber(under.database, under.workspaceId, '+14155550132', { allowed_outbound_countries: ['DE'] }),
    ];
    const numberPoolId = await poolOf(members);
    const people = [person(14155550142), person(4930123456), person(33142685300)];
    const { data } = await client.POST(path, { body: { agentId, recipients: people, numberPoolId } });
    expect(data!.acceptedRecipients.map(({ index }) => index)).toEqual([0, 1]);
    expect(data!.rejectedRecipients).toMatchObject([{ index: 2, code: 'country_not_allowed' }]);
    const batch = await read(data!.batchId);
    expect(batch).toMatchObject({ numberPoolId, status: 'running' });
    expect(batch).not.toHaveProperty('fromNumber');
  });

  test('keeps its number and its pool from being deleted until it is cancelled', async () => {
    const number = await seedNumber(under.database, under.workspaceId, '+14155550134');
    const pool = byId(await poolOf([await seedNumber(under.database, under.workspaceId, '+14155550135')]));
    const fromPool = await client.POST(path, { body: { agentId, recipients, numberPoolId: pool.params.path.id } });
    const one = await start({ fromNumber: '+14155550134', scheduledAt: '2099-01-01T00:00:00.000Z' });
    const release = () => client.DELETE('/v1/telephony/phone-numbers/{id}', byId(toId('pn', number)));
    const remove = () => client.DELETE('/v1/number-pools/{id}', pool);
    expect((await release()).error).toMatchObject({
      code: 'number_in_use',
      error: 'A batch uses this number. Cancel it first.',
      details: [{ path: '/path/id', message: `is used by the batch (${one.batchId})` }],
    });
    expect((await remove()).error).toMatchObject({
      code: 'pool_in_use',
      error: 'A batch uses this pool. Cancel it first.',
      details: [{ path: '/path/id', message: `is used by the batch (${fromPool.data!.batchId})` }],
    });
    await cancel(one.batchId);
    await cancel(fromPool.data!.batchId);
    expect([(await release()).response.status, (await remove()).response.status]).toEqual([200, 200]);
  });

  test('is 409 where no member is ready, and 404 for the pool of another workspace', async () => {
    const suspended = await seedNumber(under.database, under.workspaceId, '+14155550133', { status: 'suspended' });
    const numberPoolId = await poolOf([suspended]);
    const refused = await client.POST(path, { body: { agentId, recipients, numberPoolId } });
    expect([refused.response.status, refused.error!.code]).toEqual([409, 'campaign_not_startable']);
    const other = await under.clientOf('Other', ['*']);
    expect((await other.POST(path, { body: { agentId, recipients, numberPoolId } })).response.status).toBe(404);
  });
});

describe('with an Idempotency-Key', () => {
  test('the same request is answered the same again, whatever became of the batch', async () => {
    const recipients = [{ phoneNumber: 'x' }, ...people(3).map((each) => ({ ...each, externalId: each.phoneNumber }))];
    const given = { recipients, scheduledAt: '2099-01-01T08:00:00.000Z' };
    const first = await send(given, 'key-1');
    await cancel(first.data!.batchId);
    const again = await send(given, 'key-1');
    expect([again.response.status, again.response.headers.get('Idempotent-Replayed')]).toEqual([202, 'true']);
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    const other = await send({}, 'key-1');
    expect([other.response.status, other.error!.code]).toEqual([409, 'idempotency_key_reused']);
  });

  test('equal requests at once make one batch', async () => {
    const before = await count('batches');
    const answers = await Promise.all(Array.from({ length: 8 }, () => send({ recipients: people(50) }, 'key-2')));
    expect(answers.map(({ response }) => response.status)).toEqual(answers.map(() => 202));
    expect(new Set(answers.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(answers.filter(({ response }) => response.headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    expect(await count('batches')).toBe(before + 1);
  });

  test('a refused request leaves its key free', async () => {
    const lists = await count('contact_lists');
    expect((await send({ fromNumber: '+14155559999' }, 'key-3')).response.status).toBe(404);
    expect(await count('contact_lists')).toBe(lists);
    expect((await send({}, 'key-3')).response.headers.get('Idempotent-Replayed')).toBeNull();
  });
});

describe('cancel', () => {
  test('ends a scheduled batch and a running one, and says when', async () => {
    for (const given of [{}, { scheduledAt: '2099-01-01T08:00:00.000Z' }]) {
      const { batchId } = await start(given);
      const { response, data } = await cancel(batchId);
      expect(response.status).toBe(200);
      expect(data).toMatchObject({ batchId, status: 'cancelled', cancelledAt: expect.any(String) });
      expect(await read(batchId)).toEqual(data);
      const again = await cancel(batchId);
      expect([again.response.status, again.error!.code]).toEqual([409, 'invalid_state']);
      expect(again.error!.error).toContain('this one is cancelled');
    }
  });
});

describe('recipients', () => {
  const list = async (batchId: string, query: object = {}) => {
    const params = { path: { batchId }, query: { includeTotal: true, ...query } };
    const { data, error } = await client.GET(`${path}/{batchId}/recipients`, { params });
    if (!data) throw new Error(JSON.stringify(error));
    return data;
  };

  test('are still listed, rejected ones too, when one of them was erased', async () => {
    const sent = [person(14155550171), person(14155550172), { phoneNumber: 'x' }];
    const { batchId } = await start({ recipients: sent, scheduledAt: '2099-01-01T00:00:00.000Z' });
    const erased = await client.POST('/v1/erasures', { body: { phoneNumber: '+14155550171' } });
    const params = { path: { erasureId: erased.data!.id } };
    await until(async () => (await client.GET('/v1/erasures/{erasureId}', { params })).data!.status === 'completed');
    const { items, totalCount } = await list(batchId);
    expect(items.map(({ phoneNumber, accepted }) => [phoneNumber, accepted])).toEqual([
      ['+14155550172', true],
      ['x', false],
    ]);
    expect(totalCount).toBe(2);
  });

  test('come in the order of the request, accepted or not, in pages', async () => {
    const sent = [
      { phoneNumber: 'x', externalId: 'no' },
      person(14155550142),
      {},
      person(14155550143),
      person(14155550144),
    ];
    const { batchId, acceptedRecipients, rejectedRecipients } = await start({
      recipients: sent.map((each, at) =>
        'externalId' in each || at === 2 ? each : { ...each, externalId: `e${at}` },
      ) as Recipient[],
      scheduledAt: '2099-01-01T00:00:00.000Z',
    });
    const all = await list(batchId);
    expect(all).toMatchObject({ page: 1, perPage: 20, totalCount: 5, column: 'index', order: 'asc' });
    expect(all.items.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(all.items[0]).toEqual({ ...rejectedRecipients[0], accepted: false, attempts: 0, roomIds: [] });
    expect(all.items[2]).toMatchObject({ phoneNumber: '', code: 'invalid_recipient', error: expect.any(String) });
    expect(all.items[3]).toEqual({
      ...{ ...acceptedRecipients[1], accepted: true, state: 'pending', reason: 'dialing_paused', attempts: 0 },
      roomIds: [],
      nextAttemptAt: '2099-01-01T00:00:00.000Z',
    });
    expect((await list(batchId, { order: 'desc', perPage: 2, page: 2 })).items).toEqual([all.items[2], all.items[1]]);
    expect((await list(batchId, { accepted: true, perPage: 2, page: 2 })).items).toEqual([all.items[4]]);
    const rejected = await list(batchId, { accepted: false });
    expect([rejected.items, rejected.totalCount]).toEqual([[all.items[0], all.items[2]], 2]);
    expect((await list(batchId, { page: 9 })).items).toEqual([]);
    const first = await list(batchId, { perPage: 3 });
    const next = await list(batchId, { cursor: first.nextCursor });
    expect([...first.items, ...next.items]).toEqual(all.items);
    expect([next.totalCount, next.nextCursor]).toEqual([5, undefined]);
    await cancel(batchId);
    expect((await list(batchId)).items[1]).toMatchObject({ state: 'pending', reason: 'campaign_ended' });
  });

  test('are found by their own ID and by the metadata of their calls', async () => {
    const sent = [
      { ...person(14155550161), externalId: 'one', metadata: { order: '7', depot: 'own' } },
      { phoneNumber: 'x', externalId: 'two', metadata: { order: '7' } },
      { ...person(14155550162), externalId: 'two' },
      { ...person(14155550163), metadata: { order: '7' } },
    ];
    const scheduledAt = '2099-01-01T00:00:00.000Z';
    const { batchId } = await start({ recipients: sent, metadata: { depot: 'all' }, scheduledAt });
    const found = async (query: object) => {
      const { items, totalCount } = await list(batchId, query);
      expect(totalCount).toBe(items.length);
      return items.map(({ index }) => index);
    };
    expect(await found({ externalId: 'two' })).toEqual([1, 2]);
    expect(await found({ externalId: 'two', accepted: true })).toEqual([2]);
    expect(await found({ externalId: 'three' })).toEqual([]);
    expect(await found({ metadata: 'order=7' })).toEqual([0, 3]);
    expect(await found({ metadata: 'depot=all' })).toEqual([2, 3]);
    expect(await found({ metadata: ['depot=all', 'order=7'] })).toEqual([3]);
    expect(await found({ metadata: 'order=7', externalId: 'one' })).toEqual([0]);
    const first = await list(batchId, { metadata: 'order=7', order: 'desc', perPage: 1 });
    expect(first.items).toMatchObject([{ index: 3, phoneNumber: '+14155550163' }]);
    expect((await list(batchId, { cursor: first.nextCursor })).items).toMatchObject([{ index: 0, externalId: 'one' }]);
    const { response } = await client.GET(`${path}/{batchId}/recipients`, {
      params: { path: { batchId }, query: { metadata: 'order' } },
    });
    expect(response.status).toBe(400);
  });

  test('are those of one batch, and of a thousand the last too', async () => {
    const { batchId, acceptedRecipients } = await start({ recipients: people(1000) });
    const { items } = await list(batchId, { perPage: 100, page: 10 });
    expect(items.map(({ contactId }) => contactId)).toEqual(
      acceptedRecipients.slice(900).map((each) => each.contactId),
    );
    const failed = await start({ recipients: [{ phoneNumber: 'x' }] });
    expect((await list(failed.batchId)).items).toMatchObject([{ index: 0, accepted: false, code: 'invalid_number' }]);
    expect(await list(failed.batchId, { accepted: true })).toMatchObject({ items: [], totalCount: 0 });
    const unknown = await client.GET(`${path}/{batchId}/recipients`, at(toId('bat', newUuid())));
    expect(unknown.response.status).toBe(404);
  });
});

describe('pause and resume', () => {
  test('say when, and are refused where the batch is elsewhere', async () => {
    const { batchId } = await start();
    const paused = await client.POST(`${path}/{batchId}/pause`, at(batchId));
    expect([paused.response.status, paused.data]).toEqual([200, await read(batchId)]);
    expect(paused.data).toMatchObject({ status: 'paused', pausedAt: expect.any(String) });
    const { data } = await client.GET(path, { params: { query: { status: 'paused' } } });
    expect(data!.items.map((each) => each.batchId)).toEqual([batchId]);
    const twice = await client.POST(`${path}/{batchId}/pause`, at(batchId));
    expect([twice.response.status, twice.error]).toEqual([
      409,
      { code: 'invalid_state', error: 'Only a running batch can be paused; this one is paused.' },
    ]);
    const resumed = await client.POST(`${path}/{batchId}/resume`, at(batchId));
    expect(resumed.data).toMatchObject({ status: 'running', resumedAt: expect.any(String) });
    const again = await client.POST(`${path}/{batchId}/resume`, at(batchId));
    expect([again.response.status, again.error!.code]).toEqual([409, 'invalid_state']);
    await client.POST(`${path}/{batchId}/pause`, at(batchId));
    expect((await cancel(batchId)).data).toMatchObject({ status: 'cancelled' });
  });
});

describe('delete', () => {
  const remove = (batchId: string) => client.DELETE(`${path}/{batchId}`, at(batchId));

  test('takes an ended batch away, with its list and its place behind a key', async () => {
    const { data } = await send({ name: 'Gone' }, 'key-4');
    const { batchId } = data!;
    const early = await remove(batchId);
    expect([early.response.status, early.error]).toEqual([
      409,
      { code: 'invalid_state', error: 'An active batch can not be deleted. Cancel it first.' },
    ]);
    await cancel(batchId);
    expect((await remove(batchId)).data).toEqual({ id: batchId, deleted: true });
    const list = await client.GET('/v1/calls/contact-lists/{id}', byId(toId('list', fromId(batchId))));
    const answers = [
      await client.GET(`${path}/{batchId}`, at(batchId)),
      await remove(batchId),
      await send({ name: 'Gone' }, 'key-4'),
      list,
    ];
    expect(answers.map(({ response }) => response.status)).toEqual([404, 404, 404, 404]);
    expect((await client.GET(path, { params: { query: { searchText: 'Gone' } } })).data!.totalCount).toBe(0);
  });

  test('takes one away whose list was deleted before, and one that failed', async () => {
    const { batchId } = await start();
    await cancel(batchId);
    await client.DELETE('/v1/calls/contact-lists/{id}', byId(toId('list', fromId(batchId))));
    const failed = await start({ recipients: [{ phoneNumber: 'x' }] });
    for (const id of [batchId, failed.batchId]) expect((await remove(id)).response.status).toBe(200);
  });
});

describe('list', () => {
  test('keeps a status, searches the name literally, and pages', async () => {
    const given = { name: '100 % Oakland' };
    const running = (await start(given)).batchId;
    const stopped = (await start({ ...given, name: 'OAKLAND 2' })).batchId;
    const withdrawn = (await start({ name: 'oakland 3', scheduledAt: '2099-01-01T00:00:00.000Z' })).batchId;
    await cancel(stopped);
    await cancel(withdrawn);
    const list = async (query: object) => {
      const { data, error } = await client.GET(path, { params: { query } });
      if (!data) throw new Error(JSON.stringify(error));
      return data.items.map(({ batchId }) => batchId);
    };
    const searchText = 'oakland';
    expect(await list({ searchText })).toEqual([withdrawn, stopped, running]);
    expect(await list({ searchText, order: 'asc', perPage: 2 })).toEqual([running, stopped]);
    expect(await list({ searchText, order: 'asc', perPage: 2, page: 2 })).toEqual([withdrawn]);
    expect(await list({ searchText, status: 'cancelled' })).toEqual([withdrawn, stopped]);
    expect(await list({ searchText, status: 'running' })).toEqual([running]);
    expect(await list({ searchText, status: 'completed' })).toEqual([]);
    expect(await list({ searchText, status: ['completed', 'running'] })).toEqual([running]);
    expect(await list({ searchText: '100 %' })).toEqual([running]);
    expect(await list({ searchText: '_' })).toEqual([]);
    const { data } = await client.GET(path, { params: { query: { status: 'running', perPage: 1 } } });
    expect(data).toMatchObject({ page: 1, perPage: 1, column: 'created_at', order: 'desc' });
    expect(data!.totalCount).toBeGreaterThan(1);
    expect(data!.items[0]).toEqual(await read(running));
  });
});

describe('a batch of another workspace', () => {
  test('is as one that there never was', async () => {
    const { batchId } = await start();
    const other = await under.clientOf('Other', ['*']);
    const answers = [];
    for (const id of [batchId, toId('bat', newUuid())]) {
      answers.push(await other.GET(`${path}/{batchId}`, at(id)), await other.POST(`${path}/{batchId}/cancel`, at(id)));
    }
    expect(answers.map(({ response }) => response.status)).toEqual([404, 404, 404, 404]);
    expect(new Set(answers.map(({ error }) => JSON.stringify(error))).size).toBe(1);
    expect((await other.GET(path)).data!.totalCount).toBe(0);
    expect((await client.GET(`${path}/{batchId}`, at('bat_1'))).response.status).toBe(400);
    const ofAnotherKind = (await under.create()).id.replace('cmp_', 'bat_');
    expect((await client.GET(`${path}/{batchId}`, at(ofAnotherKind))).response.status).toBe(404);
    expect((await cancel(ofAnotherKind)).response.status).toBe(404);
  });
});

describe('the campaign behind a batch', () => {
  test('is unknown to every operation of campaigns', async () => {
    const { batchId } = await start();
    const params = { params: { path: { id: toId('cmp', fromId(batchId)) } } };
    const one = '/v1/calls/campaigns/{id}';
    const before = await read(batchId);
    const answers = [
      await client.GET(one, params),
      await client.PATCH(one, { ...params, body: { name: 'x' } }),
      await client.PATCH(one, { ...params, body: { agentId: 'x' } }),
      await client.DELETE(one, params),
      await client.POST(`${one}/start`, params),
      await client.POST(`${one}/pause`, params),
      await client.POST(`${one}/resume`, params),
      await client.POST(`${one}/stop`, params),
      await client.POST(`${one}/cancel`, params),
      await client.POST(`${one}/preview`, params),
      await client.GET(`${one}/contacts`, params),
      await client.GET(`${one}/stats`, params),
      await client.GET(`${one}/events`, params),
    ];
    expect(answers.map(({ response }) => response.status)).toEqual(answers.map(() => 404));
    const { error } = await client.GET(one, { params: { path: { id: toId('cmp', newUuid()) } } });
    expect(answers.map((answer) => answer.error)).toEqual(answers.map(() => error));
    const { data } = await client.GET('/v1/calls/campaigns', { params: { query: { perPage: 100 } } });
    expect(data!.data.items.map(({ id }) => id)).not.toContain(params.params.path.id);
    expect(data!.data.totalCount).toBe(data!.data.items.length);
    expect(await read(batchId)).toEqual(before);
  });

  test('has a list of the recipients under the same ID, which listings leave out', async () => {
    const { batchId } = await start({
      name: 'Deliveries',
      recipients: [person(14155550142, { name: 'Ada' }), person(4930123456), { phoneNumber: 'x' }],
    });
    const params = { params: { path: { id: toId('list', fromId(batchId)) } } };
    const one = '/v1/calls/contact-lists/{id}';
    const { data } = await client.GET(one, params);
    expect(data).toMatchObject({ name: 'Deliveries', type: 'batch', status: 'ready', totalEntries: 2 });
    const entries = await client.GET(`${one}/entries`, params);
    expect(entries.data!.items.map(({ phoneNumber, name, timezone }) => [phoneNumber, name, timezone])).toEqual([
      ['+4930123456', undefined, 'Europe/Berlin'],
      ['+14155550142', 'Ada', 'America/Los_Angeles'],
    ]);
    expect((await client.GET('/v1/calls/contact-lists')).data!.items.map(({ type }) => type)).not.toContain('batch');
    const upload = await client.POST(`${one}/uploads`, { ...params, body: { fileName: 'a.csv' } });
    expect([upload.response.status, upload.error!.code]).toEqual([409, 'invalid_state']);
    const used = await client.DELETE(one, params);
    expect([used.response.status, used.error!.error]).toEqual([
      409,
      `The running batch "Deliveries" (${batchId}) uses this list. Cancel it first.`,
    ]);
    await cancel(batchId);
    expect((await client.DELETE(one, params)).response.status).toBe(200);
    expect((await read(batchId)).acceptedCount).toBe(2);
  });
});

// Last: an erasure would look through all of it.
describe('start of many', () => {
  test('takes a thousand recipients in a body of almost 8 MiB, and no more of them', async () => {
    const metadata = { a: 'x'.repeat(4096), b: 'y'.repeat(4000) };
    const recipients = people(1000).map((each) => ({ ...each, metadata }));
    expect(JSON.stringify(order({ recipients })).length).toBeGreaterThan(7.7 * 1024 * 1024);
    const { acceptedRecipients } = await start({ recipients });
    expect(acceptedRecipients.map(({ index }) => index)).toEqual(recipients.map((_, index) => index));
    // The second has so many values that only the first fault is named.
    const values = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 'v']));
    for (const tooMany of [people(1001), people(1001).map((each) => ({ ...each, metadata: values }))]) {
      const { response, error } = await send({ recipients: tooMany });
      expect([response.status, error!.code]).toEqual([400, 'too_many_recipients']);
    }
  });
});
