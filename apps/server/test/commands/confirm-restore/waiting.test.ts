import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Definition } from '../../../src/dialing/workflows/definitions/definition.ts';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { definitionOf, end, wait } from '../../dialing/workflows/nodes.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
import { seedNumber } from '../../seed/workspace.ts';
import type { TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { expectEachCalledOnce, type Installation, installation, workspaceOf } from './restored.ts';

const FROM = '+12125550199';
const OF_RUN = '+14155550121';
const OF_LATER_RUN = '+14155550122';
const BY_ITSELF = '+14155550123';
const OF_CAMPAIGN = 14_155_550_124;
/** A callee of the simulator's who is always busy. */
const BUSY = 14_155_550_186;

const call = {
  id: 'call',
  type: 'call',
  title: 'call',
  to: '{{ phone }}',
  fromNumber: FROM,
  agentId: 'agent',
  next: 'done',
} as const;
const definition: Definition = definitionOf([call, end()]);
const waitsFirst: Definition = definitionOf([wait('wait', 3600, 'call'), call, end()]);

interface Waiting {
  runs: { workflowId: string; runId: string }[];
  roomId: string;
  campaignId: string;
}

/** Runs, a call by itself and a campaign that wait to call. */
async function startWaiting(server: TestServer): Promise<Waiting> {
  const { client, database } = server;
  const workspaceId = await workspaceOf(server);
  await seedNumber(database, workspaceId, FROM);
  expect((await client.POST('/v1/workspace/pause-dialing')).error).toBeUndefined();
  const begin = async (name: string, of: Definition, phone: string) => {
    const workflowId = toId('wf', await seedWorkflow(database, workspaceId, of));
    const header = { 'Idempotency-Key': name, 'Concurrency-Key': name };
    const params = { path: { workflowId }, header };
    const { data, error } = await client.POST('/v1/workflows/{workflowId}/run', {
      params,
      body: { context: { phone } },
    });
    expect(error).toBeUndefined();
    return { workflowId, runId: data!.data.id };
  };
  const runs = [await begin('now', definition, OF_RUN), await begin('later', waitsFirst, OF_LATER_RUN)];
  const created = await client.POST('/v1/calls', {
    params: { header: {} },
    body: { agentId: 'agent', fromNumber: FROM, toNumber: BY_ITSELF },
  });
  const { campaignId } = await seedCampaign(database, { workspaceId, contacts: 1, number: () => OF_CAMPAIGN });
  await until(async () => expect((await campaignRow(database, campaignId)).pending).toBe(1));
  return { runs, roomId: created.data!.roomId, campaignId };
}

const readRun = async ({ client }: TestServer, path: Waiting['runs'][number]) =>
  (await client.GET('/v1/workflows/{workflowId}/runs/{runId}', { params: { path } })).data!.data;

/** Has all of them call. */
async function letCall(server: TestServer, { runs }: Waiting): Promise<void> {
  const { client } = server;
  const { workflowId } = runs[1]!;
  const params = { path: { workflowId } };
  await client.POST('/v1/workflows/{workflowId}/runs/wake', { params, body: { concurrencyKeys: ['later'] } });
  expect((await client.POST('/v1/workspace/resume-dialing')).error).toBeUndefined();
  await until(async () => {
    // What could not be placed in time is tried again in a minute.
    server.clock.advance(1000);
    for (const run of runs) expect((await readRun(server, run)).status).toBe('completed');
  });
}

/** All of them wait in a backup, have called since, and it is put back. */
async function restoredBeforeCalls(place: Installation): Promise<Waiting> {
  const waiting = await startWaiting(await place.serve());
  await place.backUp();
  const server = await place.serve();
  // Of one of them a call was given back before it was placed: that attempt counts too.
  const calls = sql`update workflow_runs set calls = 1 where id = ${fromId(waiting.runs[1]!.runId)}`;
  await server.database.inEngine(({ db }) => calls.execute(db));
  await letCall(server, waiting);
  await until(async () => expect((await place.provider()).length).toBe(4));
  await place.restore();
  return waiting;
}

/** Nobody is called again, and each says what has become of its call. */
async function expectMarked(place: Installation, waiting: Waiting): Promise<void> {
  const server = await place.serve();
  await letCall(server, waiting);
  const runs = await Promise.all(waiting.runs.map((run) => readRun(server, run)));
  for (const run of runs) expect(run.context!['call']).toMatchObject({ outcome: 'unknown' });
  const { data } = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId: waiting.roomId } } });
  expect(data).toMatchObject({ status: 'failed', outcome: 'unknown', toNumber: BY_ITSELF });
  const called = runs.map((run) => (run.context!['call'] as { roomId: string }).roomId);
  for (const [at, roomId] of called.entries()) {
    const found = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } });
    expect(found.data).toMatchObject({ outcome: 'unknown', toNumber: [OF_RUN, OF_LATER_RUN][at] });
  }
  expect(await campaignRow(server.database, waiting.campaignId)).toMatchObject({
    ...{ status: 'completed', done: 1, unknown: 1, attempts: 1 },
  });
  await expectEachCalledOnce(place);
  expect(await place.provider()).toHaveLength(4);
}

test('what waits to call in a backup, and has called since, calls nobody again', async () => {
  const place = await installation();
  const waiting = await restoredBeforeCalls(place);
  const told = await place.confirm();
  // More where the machine was slow: one that was told too late is told, and not placed.
  expect(told).toMatch(/runs of workflows: calls to mark: [2-9]/);
  expect(told).toContain('calls by themselves and test calls: calls to mark: 1');
  expect(told).toContain(`(${toId('cmp', waiting.campaignId)}): calls to mark: 1`);
  await expectMarked(place, waiting);
});

/** A list as a carrier makes it: with rows that are none of ours, and some that nobody can read. */
async function carriersList(place: Installation, head: string, row: (to: string, at: Date) => string): Promise<string> {
  const calls = await place.provider();
  const rows = [
    ...calls.map(({ to, at }) => row(to, at)),
    row('+4930901820', new Date()),
    row('anonymous', new Date()),
  ];
  const file = path.join(place.folder, 'calls.csv');
  await writeFile(file, `${[head, ...rows].join('\n')}\n`);
  return file;
}

test.each<[string, string, (to: string, at: Date) => string, string[]]>([
  ['its own words', 'Call Date,src,dst,duration', (to, at) => `${at.toISOString()},12125550199,${to.slice(1)},12`, []],
  ['a name that nobody knows', 'leg;ziel;zeit', (to) => `A;sip:${to}@carrier.example;gestern`, ['--column', 'ziel']],
])("without a witness a carrier's list says who was called, in %s", async (_name, head, row, args) => {
  const place = await installation();
  const waiting = await restoredBeforeCalls(place);
  await place.loseWitness();
  const file = await carriersList(place, head, row);
  const dry = await place.confirm('--dry-run', '--called', file, ...args);
  expect(dry).toContain('to be marked as placed: 4. Numbers that nobody waits to call: 1.');
  expect(dry).toMatch(/row 7: "\S*nonymous\S*" is no number/);
  expect((await campaignRow(place.database(), waiting.campaignId)).unknown).toBe(0);
  const told = await place.confirm('--called', file, ...args);
  expect(told).toContain('runs of workflows: calls to mark by the list: 2');
  await expectMarked(place, waiting);
});

test('a list of which no column is known names those that it has, and confirms nothing', async () => {
  const place = await installation();
  const waiting = await restoredBeforeCalls(place);
  const file = await carriersList(place, 'leg,ziel', (to) => `A,${to}`);
  await expect(place.confirm('--called', file)).rejects.toThrow(/--column NAME. Found: "leg", "ziel"/);
  expect((await campaignRow(place.database(), waiting.campaignId)).unknown).toBe(0);
});

test('by its times a list tells calls that the database knows from those that it has lost', async () => {
  const place = await installation();
  const server = await place.serve();
  const workspaceId = await workspaceOf(server);
  const campaign = { retry_policy: [1] };
  const busy = { workspaceId, contacts: 1, number: () => BUSY, campaign };
  const { campaignId } = await seedCampaign(server.database, busy);
  await until(async () => expect((await campaignRow(server.database, campaignId)).waiting).toBe(1));
  await seedNumber(server.database, workspaceId, FROM);
  const workflowId = toId('wf', await seedWorkflow(server.database, workspaceId, waitsFirst));
  const params = { params: { path: { workflowId }, header: { 'Idempotency-Key': 'one' } } };
  const begun = await server.client.POST('/v1/workflows/{workflowId}/run', {
    ...params,
    body: { context: { phone: `+${BUSY}` } },
  });
  expect(begun.error).toBeUndefined();
  await place.backUp();
  const file = await carriersList(place, 'dst,start', (to, at) => `${to},${at.toISOString()}`);
  expect(await place.confirm('--dry-run', '--called', file)).toContain(
    'to be marked as placed: 0. Numbers that nobody waits to call: 2.',
  );
  const untimed = await carriersList(place, 'dst', (to) => to);
  expect(await place.confirm('--dry-run', '--called', untimed)).toContain(
    'to be marked as placed: 2. Numbers that nobody waits to call: 1.',
  );
});
