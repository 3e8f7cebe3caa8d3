import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { type ServerProcess, startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';
import {
  arrived,
  createEndpoint,
  deliveriesOf,
  type Receiver,
  sendsToLoopback,
  startReceiver,
  verify,
} from './receiver.ts';

const apiKey = newKey('test');
let database: Awaited<ReturnType<typeof freshDatabase>>;
let dataDir: string;
let receiver: Receiver;
/** A server of its own process, and one of this: on one database and one data folder. */
let other: ServerProcess;
let here: TestServer | undefined;

beforeEach(async () => {
  receiver = await startReceiver();
  database = await freshDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-two-servers-'));
  other = await startServerProcess({
    DATABASE_URL: database.connection.connectionString,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: apiKey,
    LEASE_SECONDS: '5',
    OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1',
  });
});
afterEach(async () => {
  await other.kill();
  await here?.stop();
  here = undefined;
  await receiver.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const startHere = () =>
  startTestServer({
    connectionString: database.connection.connectionString,
    apiKey,
    config: { dataDir, leaseSeconds: 5, ...sendsToLoopback },
  });
const there = () => ({ client: createClient({ baseUrl: other.url, apiKey, maxRetries: 0 }) });

async function makeUploads({ client }: Pick<TestServer, 'client'>, count: number): Promise<void> {
  const body = { name: 'Patients', fileName: 'patients.csv' };
  for (let i = 0; i < count; i += 1) {
    const { error } = await client.POST('/v1/calls/contact-lists', { body });
    if (error) throw new Error(JSON.stringify(error));
  }
}

const distinct = (of: Receiver) => new Set(of.received.map((each) => each.id)).size;

test('two servers send every event once', async () => {
  here = await startHere();
  const endpoints = [];
  for (let i = 0; i < 6; i += 1) {
    endpoints.push(await createEndpoint(here, `${receiver.url}/${i}`, ['upload.pending']));
  }
  await Promise.all([makeUploads(here, 10), makeUploads(there(), 10)]);
  await arrived(receiver, 6 * 20);
  for (const { id } of endpoints) {
    await until(async () => {
      const statuses = (await deliveriesOf(there(), id, { perPage: 100 })).map((each) => each.status);
      expect(statuses).toEqual(Array(20).fill('delivered'));
    });
  }
  expect(receiver.received).toHaveLength(6 * 20);
  expect(distinct(receiver)).toBe(20);
});

test('a server that is killed between sending and noting it: another sends it again under its ID, and loses nothing', async () => {
  const { id, secret } = await createEndpoint(there(), receiver.url, ['upload.pending']);
  const killed = new Promise<void>((resolve) => {
    receiver.behave((_received, _request, response) => {
      void other.kill().then(resolve);
      response.writeHead(204).end();
    });
  });
  await makeUploads(there(), 5).catch(() => undefined);
  await killed;
  const sent = receiver.received.map((each) => each.id);
  expect(sent.length).toBeGreaterThan(0);
  receiver.answer(204);
  here = await startHere();
  await until(async () => {
    const statuses = (await deliveriesOf(here!, id)).map((each) => each.status);
    expect(statuses.length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set(['delivered']));
  });
  const after = receiver.received.slice(sent.length);
  expect(after.map((each) => each.id)).toEqual(expect.arrayContaining(sent));
  for (const each of after) expect(() => verify(secret, each)).not.toThrow();
  const events = await here.database.inEngine((tx) => tx.db.selectFrom('events').select('id').execute());
  expect(distinct(receiver)).toBe(events.length);
});

test('a server that stops lets go of its endpoints at once, and waits for the answers that are due', async () => {
  here = await startHere();
  await other.kill();
  const { id } = await createEndpoint(here, receiver.url, ['upload.pending']);
  let answer = () => {};
  receiver.behave((_received, _request, response) => {
    answer = () => response.writeHead(204).end();
  });
  await makeUploads(here, 1);
  await arrived(receiver, 1);
  const stopping = here.stop();
  answer();
  await stopping;
  receiver.answer(204);
  here = await startHere();
  const [delivery] = await deliveriesOf(here, id);
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 1 });
  await makeUploads(here, 1);
  await arrived(receiver, 2);
});
