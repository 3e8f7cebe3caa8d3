import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallNode } from '../../../src/dialing/workflows/definitions/definition.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { definitionOf, end } from './nodes.ts';
import { type RunServer, startRunServer, type WorkflowRun } from './run-server.ts';

const FROM = '+12125550199';
let server: RunServer;
beforeAll(async () => {
  server = await startRunServer();
  await seedNumber(server.database, server.workspaceId, FROM);
});
afterAll(() => server.stop());

const begin = async (hours: Partial<CallNode>, at: string) => {
  server.clock.set(at);
  const ring: CallNode = {
    ...{ id: 'ring', type: 'call', title: 'Ring', agentId: 'agent', fromNumber: FROM, to: '+12125550101' },
    ...{ outcomes: { answered: 'done' }, next: 'wrong' },
    ...hours,
  };
  return server.begin(await server.publish(definitionOf([ring, end(), end('wrong', { status: 'failed' })])));
};
const bringNumber = (phoneNumber: string) =>
  server.client.phoneNumbers.import({ phoneNumbers: [phoneNumber], sipConfig: { terminationUrl: 'ok.sim' } });
const advanceTo = (at: string) => server.clock.advance(Date.parse(at) - server.clock.now().getTime());
const seen = (run: WorkflowRun, { revision }: WorkflowRun) =>
  until(async () => (await server.read(run)).revision > revision);

test('a call waits over a weekend for its hours, and its step says why and until when', async () => {
  const hours = { callingWindows: [{ days: [1], start: 540, end: 1020 }] };
  // A Friday; Monday at 9:00 in New York is 13:00.
  const run = await begin(hours, '2031-03-14T15:00:00Z');
  const blocked = await server.comesTo(run, 'blocked');
  expect(blocked).toMatchObject({ error: { code: 'outside_window', nodeId: 'ring' } });
  expect(blocked.steps!.at(-1)).toMatchObject({
    status: 'waiting',
    note: 'It is outside the calling windows where the callee is. The next look is at 2031-03-17T13:00:00.000Z.',
  });
  // What changes in the workspace has it looked at again, and nothing is lost by that.
  advanceTo('2031-03-16T15:00:00Z');
  await bringNumber('+12125550198');
  await seen(run, blocked);
  expect((await server.read(run)).status).toBe('blocked');
  advanceTo('2031-03-17T13:00:00Z');
  const done = await server.comesTo(run, 'completed', 'failed');
  expect(done).toMatchObject({ status: 'completed' });
  expect(done.steps![0]).not.toHaveProperty('note');
});

test('only the time in which hours are open counts against what a call lacks', async () => {
  const hours = { fromNumber: '+12125550111', callingWindows: [{ days: [1, 3, 5], start: 540, end: 600 }] };
  const run = await begin(hours, '2031-03-14T15:00:00Z');
  const first = await server.comesTo(run, 'blocked');
  for (const at of ['2031-03-17T13:00:00Z', '2031-03-17T15:00:00Z', '2031-03-19T13:00:00Z', '2031-03-19T13:58:00Z']) {
    const before = await server.read(run);
    advanceTo(at);
    await seen(run, before);
    expect(await server.read(run)).toMatchObject({ status: 'blocked' });
  }
  expect((await server.read(run)).error!.code).toBe('no_caller_id');
  expect(first.error!.code).toBe('outside_window');
  await bringNumber('+12125550111');
  expect(await server.comesTo(run, 'completed', 'failed')).toMatchObject({ status: 'completed' });
});

test('hours that never open end the wait after 24 hours', async () => {
  const quietHours = { start: 0, end: 1380 };
  const workspace = await server.client.PATCH('/v1/workspace', { body: { quietHours } });
  expect(workspace.error).toBeUndefined();
  const hours = { callingWindows: [{ days: [1], start: 540, end: 600 }] };
  const run = await begin(hours, '2031-03-14T15:00:00Z');
  const blocked = await server.comesTo(run, 'blocked');
  expect(blocked.steps!.at(-1)!.note).toContain('No hours are open within 8 days. The next look is at 2031-03-15T15:');
  server.clock.advance(24 * 3_600_000);
  expect(await server.comesTo(run, 'failed')).toMatchObject({
    error: { code: 'blocked_too_long', message: expect.stringContaining('No hours are open within 8 days.') },
  });
  await server.client.PATCH('/v1/workspace', { body: { quietHours: null } });
});
