import type { components, operations } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, type EngineTx, forWorkspace } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import {
  beginFeed,
  checkKept,
  existingFeed,
  type FeedItem,
  feedFilter,
  findFeed,
  readFeed,
} from '../../../src/platform/journal/event-feed.ts';
import { record } from '../../../src/platform/journal/record.ts';
import { deleteOldEvents, deleteOldPlaces } from '../../../src/platform/journal/retention.ts';
import { handOverEvents } from '../../../src/platform/webhooks/hand-over-events.ts';
import { importFile } from '../../audience/contact-lists/contact-files.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { meanwhile } from '../../race.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { keyWith } from '../api-keys/keys.ts';

type FeedEvent = components['schemas']['FeedEvent'];
type Filter = NonNullable<operations['listEvents']['parameters']['query']>;

const DAY_MS = 24 * 3600 * 1000;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 100 } });
});
afterAll(() => server.stop());

const read = (query: Filter = {}, client = server.client) => client.GET('/v1/events', { params: { query } });
const page = async (query?: Filter, client?: TestServer['client']) => {
  const { data, error } = await read(query, client);
  if (error) throw new Error(JSON.stringify(error));
  return data.data;
};
const turn = (eventFeed: boolean) => server.client.PATCH('/v1/workspace', { body: { eventFeed } });

/** Reads on behind a place until there is no more. */
async function readOn(after: string, filter: Filter = {}): Promise<FeedEvent[]> {
  const items: FeedEvent[] = [];
  for (let from = after; ; ) {
    const next = await page({ ...filter, after: from });
    items.push(...next.items);
    if (!next.hasMore) return items;
    from = next.after;
  }
}

const noted = () =>
  server.database.inEngine(async ({ db }) => {
    const { rows } = await sql<{ count: number }>`
      select (select count(*) from events_to_hand_over) + (select count(*) from feed_places) as count`.execute(db);
    return rows[0]!.count;
  });

const changeNumber = async (label: string) => {
  const number = (await server.client.GET('/v1/telephony/phone-numbers')).data!.items[0]!;
  await server.client.PATCH('/v1/telephony/phone-numbers/{id}', {
    params: { path: { id: number.id } },
    body: { label },
  });
  return number.id;
};

test('off, it says how to switch it on, and writes nothing', async () => {
  const body = { phoneNumber: '+14155550177', provider: 'simulator' as const };
  await server.client.POST('/v1/telephony/phone-numbers/buy', { body });
  const { response, error } = await read();
  expect([response.status, error]).toMatchObject([409, { code: 'invalid_state', error: /PATCH \/v1\/workspace/ }]);
  const stream = await fetch(`${server.url}/v1/events/stream`, { headers: { 'X-API-Key': server.apiKey } });
  expect([stream.status, await stream.json()]).toMatchObject([409, { code: 'invalid_state' }]);
  expect(await noted()).toBe(0);
  expect((await server.client.GET('/v1/workspace')).data!.data.eventFeed).toBe(false);
  expect((await turn(true)).data!.data.eventFeed).toBe(true);
  expect((await server.client.GET('/v1/workspace')).data!.data.eventFeed).toBe(true);
  expect(await page()).toEqual({ items: [], after: '1', hasMore: false });
});

test('a campaign is told whole, in the order of each resource, by type, by resource, and as far as the key may read', async () => {
  const { after } = await page({ after: 'latest' });
  const { id: listId } = await importFile(server, 'phone\n+14155550101\n+14155550186\n');
  const numberId = await changeNumber('Clinic');
  const lists = [{ id: listId, role: 'contacts' as const }];
  const draft = { name: 'Reminders', agentId: 'agent_reception', fromNumber: '+14155550177', lists };
  const { id } = (await server.client.POST('/v1/calls/campaigns', { body: draft })).data!.data;
  await server.client.POST('/v1/calls/campaigns/{id}/start', { params: { path: { id } } });
  await until(async () => expect((await page({ after, type: 'campaign.completed' })).items).toHaveLength(1));
  const all = await readOn(after);
  const types = (resourceId: string) =>
    all.filter((each) => each.resourceId === resourceId).map(({ event }) => event.type);
  expect(types(id)).toEqual(['campaign.draft', 'campaign.running', 'campaign.completed']);
  expect(types(numberId)).toEqual(['phone_number.updated']);
  const calls = (await server.client.GET('/v1/calls', { params: { query: { campaignId: id } } })).data!.items;
  expect(calls.map(({ outcome }) => outcome).toSorted()).toEqual(['answered', 'busy']);
  for (const { roomId, outcome } of calls)
    expect(types(roomId)).toEqual(['call.started', ...(outcome === 'answered' ? ['call.answered'] : []), 'call.ended']);
  expect(all.map((each) => each.after)).toEqual(all.map((_, at) => String(Number(after) + at + 1)));
  expect(await readOn(after, { limit: 1 })).toEqual(all);

  expect(await readOn(after, { resourceId: id })).toEqual(all.filter((each) => each.resourceId === id));
  const family = await readOn(after, { type: ['call.*', 'campaign.draft'], limit: 2 });
  expect(family).toEqual(all.filter(({ event }) => event.type.startsWith('call.') || event.type === 'campaign.draft'));
  const none = await page({ after, type: 'trunk.updated' });
  expect(none).toEqual({ items: [], after: all.at(-1)!.after, hasMore: false });

  const viewer = server.clientOf(await keyWith(server, { permissions: ['campaigns:read', 'contact_lists:read'] }));
  const seen = await page({ after }, viewer);
  expect(seen.items.map(({ event }) => event.type.split('.')[0])).not.toContain('call');
  expect(seen.items).toEqual(all.filter(({ event }) => /^(campaign|upload)\./.test(event.type)));
  const stranger = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Twin' }));
  expect((await read({}, stranger)).response.status).toBe(409);
  for (const [name, value] of [
    ['after', 'yesterday'],
    ['type', 'call.unheard'],
    ['resourceId', 'me'],
    ['limit', 101],
  ] as const) {
    const wrong = await read({ [name]: value } as Filter);
    expect([wrong.response.status, wrong.error]).toMatchObject([400, { details: [{ path: `/query/${name}` }] }]);
  }
});

test('a stream goes on behind its last frame, tells what it passes over, and ends when the feed does', async () => {
  const { after } = await page({ after: 'latest' });
  const got: FeedEvent[] = [];
  const leave = new AbortController();
  const follow = async (options: object) => {
    for await (const event of server.client.events.stream({ signal: leave.signal, ...options })) got.push(event);
  };
  const following = follow({ query: { after, type: 'phone_number.*' } });
  for (const label of ['One', 'Two']) await changeNumber(label);
  await until(() => expect(got).toHaveLength(2));
  leave.abort();
  await expect(following).rejects.toThrow();
  expect(got).toEqual(await readOn(after));

  const headers = { 'X-API-Key': server.apiKey, 'Last-Event-ID': got[0]!.after };
  const told = await framesOf(`${server.url}/v1/events/stream?type=phone_number.updated`, headers, /id: \d+/);
  expect(told).toBe(`id: ${got[1]!.after}\nevent: phone_number.updated\ndata: ${JSON.stringify(got[1])}\n\n`);
  const passed = `id: ${got[1]!.after}\n\n`;
  const other = `${server.url}/v1/events/stream?type=trunk.updated`;
  expect(await framesOf(other, headers, /id: \d+/)).toBe(passed);
  expect(await framesOf(`${server.url}/v1/events/stream`, { 'X-API-Key': server.apiKey }, /id: \d+/)).toBe(passed);

  const open = await fetch(other, { headers });
  await turn(false);
  await open.text();
  expect((await read({ after })).response.status).toBe(409);
  await changeNumber('Unheard');
  await turn(true);
  const missed = await read({ after: got[1]!.after });
  expect([missed.response.status, missed.error]).toMatchObject([
    410,
    { code: 'events_expired', error: /after=latest/ },
  ]);
  const gone = await fetch(other, { headers });
  expect([gone.status, await gone.json()]).toMatchObject([410, { code: 'events_expired' }]);
  const ahead = await read({ after: '999999' });
  expect(ahead.response.status).toBe(410);
  expect(await page()).toEqual({ ...(await page({ after: 'latest' })), items: [] });
});

/** What a stream sends until this has come. */
async function framesOf(url: string, headers: Record<string, string>, wanted: RegExp): Promise<string> {
  const { body } = await fetch(url, { headers });
  let text = '';
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (wanted.test(text) && text.endsWith('\n\n')) break;
  }
  return text;
}

describe('places', () => {
  const now = new Date('2026-11-20T09:30:00.000Z');
  const everything = feedFilter(['*'], {});

  const withFeed = (run: (database: Database, workspaceId: string) => Promise<void>) =>
    withDatabase(async (database) => {
      const id = await seedWorkspace(database, { event_feed: true });
      await database.inWorkspace(id, beginFeed);
      await run(database, id);
    });
  const recordIn = (tx: EngineTx, id: string, resourceId: string, revision = 1, at = now) =>
    record(forWorkspace(tx, id), { resourceId, revision, type: 'trunk.updated', data: {}, now: at });
  const placesBehind = (database: Database, id: string, after: number) =>
    database.inSnapshot(id, async (tx) => {
      checkKept(await existingFeed(tx), after);
      return (await readFeed(tx, everything, after, 100)).items;
    });

  test('are not given to how far an upload has been read, which only its stream tells', () =>
    withFeed(async (database, id) => {
      const event = { resourceId: newUuid(), revision: 1, type: 'upload.progress', data: {}, now };
      await database.inWorkspace(id, (tx) => record(tx, event));
      const { rows } = await database.inEngine(({ db }) => sql`select from events_to_hand_over`.execute(db));
      expect(rows).toEqual([]);
    }));

  test('come after the commit, so that what commits late stands behind what was read meanwhile', () =>
    withFeed(async (database, id) => {
      const [early, late] = [newUuid(), newUuid()];
      const seen = await database.inEngine(async (tx) => {
        await recordIn(tx, id, late);
        await database.inEngine((other) => recordIn(other, id, early));
        await handOverEvents(database, now);
        return placesBehind(database, id, 1);
      });
      expect(seen).toMatchObject([{ resource_id: early, place: 2 }]);
      await handOverEvents(database, now);
      expect(await placesBehind(database, id, 2)).toMatchObject([{ resource_id: late, place: 3 }]);
    }));

  test('are given once, by several servers at once, and a reader by cursor misses none', () =>
    withFeed(async (database, id) => {
      const resources = Array.from({ length: 300 }, newUuid);
      const read: FeedItem[] = [];
      const readNext = async () => {
        const next = await placesBehind(database, id, read.at(-1)?.place ?? 1);
        read.push(...next);
      };
      const telling = (async () => {
        for (const revision of [1, 2, 3])
          await Promise.all(resources.map((each) => database.inEngine((tx) => recordIn(tx, id, each, revision))));
      })();
      let isTold = false;
      void telling.then(() => {
        isTold = true;
      });
      const waits = async () =>
        (await database.inEngine(({ db }) => sql`select from events_to_hand_over limit 1`.execute(db))).rows.length > 0;
      const handing = Array.from({ length: 2 }, async () => {
        while (!isTold || (await waits())) await handOverEvents(database, now);
      });
      while (read.length < 900) await readNext();
      await Promise.all([telling, ...handing]);
      expect(read.map(({ place }) => place)).toEqual(Array.from({ length: 900 }, (_, at) => at + 2));
      for (const resource of resources)
        expect(read.filter((each) => each.resource_id === resource).map(({ revision }) => revision)).toEqual([1, 2, 3]);
    }));

  test('wait while another server gives some', () =>
    withFeed(async (database, id) => {
      await database.inEngine((tx) => recordIn(tx, id, newUuid()));
      const hold = ({ db }: EngineTx) => sql`select from event_feeds for update`.execute(db);
      await meanwhile(database, hold, () => handOverEvents(database, now));
      expect(await placesBehind(database, id, 1)).toMatchObject([{ place: 2 }]);
    }));

  test('go after seven days, from the first on, and who would go on behind one that is gone is told', () =>
    withFeed(async (database, id) => {
      const days = [1, 2, 9].map((day) => new Date(now.getTime() + day * DAY_MS));
      for (const at of days) {
        await database.inEngine((tx) => recordIn(tx, id, newUuid(), 1, at));
        await handOverEvents(database, at);
      }
      const later = new Date(now.getTime() + 10 * DAY_MS);
      await deleteOldEvents(database, later);
      await expect(placesBehind(database, id, 1)).rejects.toMatchObject({ code: 'events_expired' });
      await deleteOldPlaces(database, later);
      const { rows } = await database.inEngine(({ db }) => sql`select place from feed_places`.execute(db));
      expect(rows).toEqual([{ place: 4 }]);
      expect(await database.inWorkspace(id, findFeed)).toEqual({ begins_behind: 3, last_place: 4 });
      await expect(placesBehind(database, id, 2)).rejects.toMatchObject({ code: 'events_expired' });
      expect(await placesBehind(database, id, 3)).toMatchObject([{ place: 4 }]);
    }));

  test('a page looks at so many events, and leads on behind those that it leaves out', () =>
    withFeed(async (database, id) => {
      const resources = Array.from({ length: 601 }, newUuid);
      const wanted = resources.at(-1)!;
      for (const [at, resource] of resources.entries())
        await database.inEngine((tx) => recordIn(tx, id, resource, 1, new Date(now.getTime() + at)));
      while ((await handOverEvents(database, now)).hasMore);
      const filter = { ...everything, resourceId: wanted };
      const behind = (after: number) => database.inSnapshot(id, (tx) => readFeed(tx, filter, after, 100));
      expect(await behind(1)).toEqual({ items: [], after: 501 });
      expect(await behind(501)).toMatchObject({ items: [{ resource_id: wanted, place: 602 }], after: 602 });
    }));
});
