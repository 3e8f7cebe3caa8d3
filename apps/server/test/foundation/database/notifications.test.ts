import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Notifications, openNotifications } from '../../../src/foundation/database/notifications.ts';
import { freshDatabase } from '../../database.ts';
import { until } from '../../until.ts';

const log = pino({ level: 'silent' });
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let here: Notifications;
let elsewhere: Notifications;
/** Sees the raw notifications, and kills connections. */
let watcher: pg.Client;
const payloads: string[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  here = openNotifications({ connection: fresh.connection, log });
  elsewhere = openNotifications({ connection: fresh.connection, log });
  watcher = new pg.Client(fresh.connection);
  await watcher.connect();
  await watcher.query('listen trunkline_events');
  watcher.on('notification', ({ payload }) => payloads.push(payload ?? ''));
  for (const notifications of [here, elsewhere]) await heard(notifications);
});

afterAll(async () => {
  await Promise.all([here.close(), elsewhere.close(), watcher.end()]);
  await fresh.drop();
});

/** Waits until this one's listening connection works. */
async function heard(notifications: Notifications): Promise<void> {
  const topic = randomUUID();
  const listener = vi.fn();
  const unsubscribe = notifications.subscribe(topic, listener);
  await until(() => {
    here.notify(topic);
    expect(listener).toHaveBeenCalled();
  });
  unsubscribe();
}

test('reaches this process and others, and nobody who listens to another topic or no longer', async () => {
  const topic = randomUUID();
  const [own, foreign, other, ended] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  here.subscribe(topic, own);
  elsewhere.subscribe(topic, foreign);
  elsewhere.subscribe(randomUUID(), other);
  elsewhere.subscribe(topic, ended)();
  here.notify(topic);
  await expect.poll(() => [own.mock.calls.length, foreign.mock.calls.length]).toEqual([1, 1]);
  expect(other).not.toHaveBeenCalled();
  expect(ended).not.toHaveBeenCalled();
});

test('sends what gathers in one go, each topic once, in payloads of at most 8000 bytes', async () => {
  await sleep(100);
  payloads.length = 0;
  const topics = Array.from({ length: 450 }, () => randomUUID());
  const last = vi.fn();
  elsewhere.subscribe(topics[449]!, last);
  for (let round = 0; round < 3; round += 1) for (const topic of topics) here.notify(topic);
  await expect.poll(() => last.mock.calls.length).toBe(1);
  expect(payloads).toHaveLength(3);
  expect(payloads.join().split(',')).toEqual(topics);
});

test('comes back after its connections were killed', async () => {
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  expect((await watcher.query(kill)).rowCount).toBeGreaterThanOrEqual(3);
  for (const notifications of [here, elsewhere]) await heard(notifications);
});
