import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HttpNode } from '../../src/dialing/workflows/definitions/definition.ts';
import { fromId } from '../../src/foundation/values/ids.ts';
import { definitionOf, end } from '../dialing/workflows/nodes.ts';
import { keyWith } from '../platform/api-keys/keys.ts';
import {
  createEndpoint,
  deliveriesOf,
  type Receiver,
  sendsToLoopback,
  startReceiver,
} from '../platform/webhooks/receiver.ts';
import { seedWorkflow } from '../seed/workflow.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';
import { type SilentPeer, startSilentPeer } from './silent-peer.ts';

let server: TestServer;
let silent: SilentPeer;
let receiver: Receiver;
/** The clients of two workspaces. */
let noisy: Pick<TestServer, 'client'>;
let quiet: Pick<TestServer, 'client'>;

beforeAll(async () => {
  server = await startTestServer({ config: sendsToLoopback });
  noisy = server;
  quiet = { client: server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Quiet' })) };
});
afterAll(() => server.stop());
beforeEach(async () => {
  silent = await startSilentPeer();
  receiver = await startReceiver();
});
afterEach(async () => {
  await silent.stop();
  await receiver.stop();
});

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1]);
};

const http = (url: string): HttpNode => ({
  ...{ id: 'ask', type: 'http', title: 'Ask', method: 'POST', url, next: 'done' },
  timeoutSeconds: 60,
  body: { data: {} },
});

async function start({ client }: Pick<TestServer, 'client'>, url: string, runs: number) {
  const { data } = await client.GET('/v1/workspace');
  const workflowId = await seedWorkflow(server.database, fromId(data!.data.id), definitionOf([http(url), end()]));
  const path = { workflowId: `wf_${workflowId.replaceAll('-', '')}` };
  const started = await Promise.all(
    Array.from({ length: runs }, async () => {
      const header = { 'Idempotency-Key': crypto.randomUUID() };
      return client.POST('/v1/workflows/{workflowId}/run', { params: { path, header }, body: {} });
    }),
  );
  return { path, runId: started[0]!.data!.data.id };
}

test('the requests of one workspace at a server that is silent hold up those of no other', async () => {
  await start(noisy, silent.url, 340);
  await until(() => expect(silent.open()).toBe(64));
  await until(async () => expect(await metric('trunkline_slots_waiting{resource="workflow_http_requests"}')).toBe(256));
  expect(await metric('trunkline_slots_under_way{resource="workflow_http_requests"}')).toBe(64);
  const run = await start(quiet, receiver.url, 1);
  await until(async () => {
    const { data } = await quiet.client.GET('/v1/workflows/{workflowId}/runs/{runId}', {
      params: { path: { ...run.path, runId: run.runId } },
    });
    return data!.data.status === 'completed';
  });
  expect(silent.most()).toBe(64);
});

test('tests of what is silent take half of the connections for tests, and keep nobody from testing', async () => {
  const testOf = async ({ client }: Pick<TestServer, 'client'>, webhookId: string) => {
    const { data, response } = await client.POST('/v1/webhooks/{webhookId}/test', { params: { path: { webhookId } } });
    return { status: response.status, again: response.headers.get('retry-after'), delivery: data?.data.status };
  };
  const connection = { type: 'stream' as const, url: 'wss://agents.example.com/', secret: 'a-secret-of-our-own' };
  const agent = await noisy.client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const path = { agentId: agent.data!.data.agent.id };
  const { id } = await createEndpoint(noisy, silent.url, ['call.ended']);
  const own = await createEndpoint(quiet, receiver.url, ['call.ended']);
  const refused: unknown[] = [];
  const tests: Promise<void>[] = [];
  let underWay = 0;
  const one = async () => {
    underWay += 1;
    const tested = await testOf(noisy, id);
    underWay -= 1;
    if (tested.status === 429) refused.push(tested);
  };
  // A test ends by itself after 10 s: where the machine stalls so long, others take their places.
  await until(() => {
    for (let at = underWay; at < 70; at += 1) tests.push(one());
    expect(silent.open()).toBe(64);
    expect(refused.length).toBeGreaterThan(0);
  });
  expect(refused[0]).toMatchObject({ again: '5' });
  expect((await noisy.client.POST('/v1/agents/{agentId}/test', { params: { path } })).response.status).toBe(429);
  expect(await testOf(quiet, own.id)).toMatchObject({ status: 200, delivery: 'delivered' });
  expect(silent.most()).toBe(64);
  await silent.stop();
  await Promise.all(tests);
  expect(await metric('trunkline_slots_under_way{resource="connection_tests"}')).toBe(0);
  // There may be a hundred.
  await noisy.client.DELETE('/v1/webhooks/{webhookId}', { params: { path: { webhookId: id } } });
});

test('endpoints of one workspace that are silent hold up those of no other, and few connections', async () => {
  const created = async (who: Pick<TestServer, 'client'>, name: string) =>
    who.client.POST('/v1/calls/contact-lists', { body: { name, fileName: 'people.csv' } });
  const urls = Array.from({ length: 100 }, (_, at) => `${silent.url}/${at}`);
  const endpoints = await Promise.all(urls.map((url) => createEndpoint(noisy, url, ['upload.pending'])));
  await createEndpoint(quiet, receiver.url, ['upload.pending']);
  for (let at = 0; at < 8; at += 1) await created(noisy, `List ${at}`);
  // All that one workspace may have.
  await until(() => expect(silent.open()).toBe(256));
  await created(quiet, 'List');
  await until(() => expect(receiver.received).toHaveLength(1));
  for (const { id } of [endpoints[0]!, endpoints.at(-1)!])
    for (const { attempts } of await deliveriesOf(noisy, id)) expect(attempts).toBe(0);
  expect(silent.most()).toBe(256);
});
