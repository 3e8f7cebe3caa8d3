import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCampaign } from '../../../src/dialing/campaigns/create-campaign.ts';
import { moveCampaign } from '../../../src/dialing/campaigns/move-campaign.ts';
import { startCampaign } from '../../../src/dialing/campaigns/start-campaign.ts';
import { streamCampaignEvents } from '../../../src/dialing/campaigns/stream-campaign-events.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { openNotifications } from '../../../src/foundation/database/notifications.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { feedsOf } from '../../../src/platform/journal/feeds.ts';
import { byTest } from '../../by-test.ts';
import { readStream } from '../../read-stream.ts';
import { seedList } from '../../seed/list.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { campaignDeps } from './campaign-deps.ts';

type CampaignEvent = components['schemas']['CampaignEvent'];

const log = pino({ level: 'silent' });
let under: Awaited<ReturnType<typeof campaignDeps>>;
let workspaceId: string;
const fromNumber = '+14155550100';

beforeAll(async () => {
  under = await campaignDeps();
  workspaceId = await seedWorkspace(under.database);
  await seedNumber(under.database, workspaceId, fromNumber);
});
afterAll(() => under.close());

async function start() {
  const list = toId('list', await seedList(under.database, workspaceId, [{ phone_number: 14155550101 }]));
  const input = { name: 'x', agentId: 'a', fromNumber, lists: [{ id: list, role: 'contacts' as const }] };
  const { id } = (await createCampaign(under.deps, workspaceId, input, byTest)).made;
  await startCampaign(under.deps, workspaceId, id, byTest(id));
  return id;
}
const move = (id: string, name: Parameters<typeof moveCampaign>[3]) =>
  moveCampaign(under.deps, workspaceId, id, name, byTest(id));
/** What the dialer does many times a second. */
const progress = (id: string, isTold = true) =>
  under.database.inEngine((tx) => {
    if (isTold) tx.tell(id);
    return sql`update campaigns set attempts = attempts + 1, revision = revision + 1 where id = ${id}`.execute(tx.db);
  });

interface Seen {
  type: string;
  id: string;
  event: CampaignEvent;
  at: number;
}
/** Reads a stream in the background. */
async function follow(id: string, lastEventId?: string, deps = under.deps) {
  const source = await streamCampaignEvents(deps, id, { workspaceId, lastEventId });
  const seen: Seen[] = [];
  const stream = source
    ? readStream(source, ({ event, id, data }) =>
        seen.push({ type: event, id, event: data as CampaignEvent, at: performance.now() }),
      )
    : { reading: Promise.resolve(), end: () => undefined };
  return { ...stream, isOver: source === undefined, seen, types: () => seen.map(({ type }) => type) };
}
const until = (condition: () => unknown) => expect.poll(condition, { interval: 10 });

test('the stream begins with the state, tells each status, and ends with the last; a reconnect then has nothing', async () => {
  const id = await start();
  const stream = await follow(id);
  await until(stream.types).toEqual(['campaign.running']);
  await move(id, 'pause');
  await until(stream.types).toEqual(['campaign.running', 'campaign.paused']);
  await move(id, 'stop');
  await stream.reading;
  expect(stream.types()).toEqual(['campaign.running', 'campaign.paused', 'campaign.stopped']);
  for (const { type, id: eventId, event } of stream.seen) {
    expect(event).toMatchObject({
      eventId,
      eventType: type,
      data: { campaign: { id: toId('cmp', id) }, stats: { totalContacts: 1 } },
    });
    expect(`campaign.${event.data.campaign.status}`).toBe(type);
  }
  expect((await follow(id, stream.seen.at(-1)!.id)).isOver).toBe(true);
  const again = await follow(id, stream.seen[0]!.id);
  await again.reading;
  expect(again.types()).toEqual(['campaign.paused', 'campaign.stopped']);
  expect(again.seen.map(({ event }) => event.data.campaign)).toEqual(
    stream.seen.slice(1).map(({ event }) => event.data.campaign),
  );
});

test('every status is shown, however fast they follow, in their order among the figures', async () => {
  const id = await start();
  const stream = await follow(id);
  await until(stream.types).toHaveLength(1);
  const first = stream.seen[0]!;
  await progress(id);
  for (const name of ['pause', 'resume', 'pause', 'resume'] as const) await move(id, name);
  await progress(id);
  const statuses = ['paused', 'running', 'paused', 'running'];
  await until(() => stream.types().filter((type) => type !== 'campaign.progress')).toEqual(
    ['running', ...statuses].map((status) => `campaign.${status}`),
  );
  await until(() => stream.types().at(-1)).toBe('campaign.progress');
  stream.end();
  const ids = stream.seen.map(({ id: eventId }) => Number(eventId));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));

  const again = await follow(id, first.id);
  await until(again.types).toEqual([...statuses.map((status) => `campaign.${status}`), 'campaign.progress']);
  for (const { event, type } of again.seen.slice(0, -1)) expect(`campaign.${event.data.campaign.status}`).toBe(type);
  again.end();
});

test('where the events are gone, the state is sent', async () => {
  const id = await start();
  const { seen, end } = await follow(id);
  await until(() => seen.length).toBe(1);
  end();
  await move(id, 'pause');
  await under.database.inEngine(({ db }) => sql`delete from events where resource_id = ${id}`.execute(db));
  const again = await follow(id, seen[0]!.id);
  await until(again.types).toEqual(['campaign.paused']);
  again.end();
});

test('progress comes at most twice a second, however much happens, and its last state is not lost', async () => {
  const id = await start();
  const from = performance.now();
  const stream = await follow(id);
  while (stream.seen.length < 4) {
    await progress(id);
    await sleep(5);
  }
  const { rows } = await under.database.inEngine(({ db }) =>
    sql<{ revision: number }>`select revision from campaigns where id = ${id}`.execute(db),
  );
  await until(() => stream.seen.at(-1)!.id).toBe(String(rows[0]!.revision));
  stream.end();
  await stream.reading;
  expect(stream.types().slice(1)).toEqual(
    stream
      .types()
      .slice(1)
      .map(() => 'campaign.progress'),
  );
  // From the beginning: one that was late here is followed sooner by the next.
  for (const [before, { at }] of stream.seen.entries()) expect(at - from).toBeGreaterThan(480 * before);
});

test('a stream on another server shows what this one has committed without waiting for its next look', async () => {
  const id = await start();
  const database = openDatabase({ connection: under.connection, poolSize: 2, log });
  const notifications = openNotifications({ connection: under.connection, log });
  // Of so many feeds each looks by itself once in two minutes.
  const feeds = feedsOf(database);
  const make = { terms: { look: async () => undefined, apartMs: 0 }, subscribe: () => () => undefined };
  for (let at = 0; at < 12_000; at += 1) feeds.of(workspaceId, newUuid(), make);
  expect(feeds.restMs(workspaceId)).toBe(120_000);
  const stream = await follow(id, undefined, { ...under.deps, database, notifications });
  const told = ['campaign.running'];
  await until(stream.types).toEqual(told);
  for (const [name, status] of [
    ['pause', 'paused'],
    ['resume', 'running'],
  ] as const) {
    await move(id, name);
    told.push(`campaign.${status}`);
    await until(stream.types).toEqual(told);
  }
  stream.end();
  await stream.reading;
  await Promise.all([notifications.close(), database.close()]);
});

test('a change without a hint is seen within a second or so', async () => {
  const id = await start();
  const stream = await follow(id);
  await until(stream.types).toHaveLength(1);
  await sleep(600);
  await progress(id, false);
  await until(stream.types).toEqual(['campaign.running', 'campaign.progress']);
  stream.end();
  await stream.reading;
});

test('a reconnect is told only what it has missed', async () => {
  const id = await start();
  const first = await follow(id);
  await until(first.types).toHaveLength(1);
  first.end();
  const { id: last } = first.seen[0]!;

  const nothing = await follow(id, last);
  await sleep(150);
  expect(nothing.seen).toEqual([]);
  await progress(id);
  await until(nothing.types).toEqual(['campaign.progress']);
  nothing.end();

  await move(id, 'pause');
  const paused = await follow(id, last);
  await until(paused.types).toEqual(['campaign.paused']);
  paused.end();

  for (const unknown of ['nonsense', '999999999', '']) {
    const fresh = await follow(id, unknown);
    await until(fresh.types).toEqual(['campaign.paused']);
    fresh.end();
  }
});

test('the stream of a campaign that is deleted ends, and that of one that never was is 404', async () => {
  const id = await start();
  const stream = await follow(id);
  await until(stream.types).toHaveLength(1);
  await under.database.inEngine(({ db }) => sql`delete from campaigns where id = ${id}`.execute(db));
  await stream.reading;
  expect(stream.types()).toEqual(['campaign.running']);
  await expect(follow(id)).rejects.toMatchObject({ code: 'not_found' });
});
