import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallNode, Node, WaitNode } from '../../../src/dialing/workflows/definitions/definition.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { definitionOf, end, set } from './nodes.ts';
import { type RunServer, startRunServer } from './run-server.ts';

const FROM = '+12125550199';
let server: RunServer;
beforeAll(async () => {
  server = await startRunServer();
  await seedNumber(server.database, server.workspaceId, FROM);
});
afterAll(() => server.stop());

const ring = (given: Partial<CallNode> = {}): CallNode => ({
  ...{ id: 'ring', type: 'call', title: 'Ring', agentId: 'agent', fromNumber: FROM, to: '{{phone_number}}' },
  ...{ outcomes: { answered: 'done' }, next: 'wrong' },
  ...given,
});
const sleep = (of: string, given: object = {}): WaitNode => ({
  ...{ id: 'sleep', type: 'wait', title: 'Sleep', next: 'ring' },
  until: { time: 570, of, ...given },
});
const flow = (...nodes: Node[]) => definitionOf([...nodes, end(), end('wrong', { status: 'failed' })]);
const begin = async (nodes: Node[], context: Record<string, unknown>, at: string) => {
  server.clock.set(at);
  return server.begin(await server.publish(flow(...nodes)), { context });
};
const advanceTo = (at: string) => server.clock.advance(Date.parse(at) - server.clock.now().getTime());

// Clocks of New York go forward on 2031-03-09, a Sunday, at 2:00.
test.each([
  ["a number's clock", '{{phone_number}}', {}, '2031-03-08T15:00:00Z', '2031-03-09T13:30:00.000Z'],
  ['on a weekday', '{{phone_number}}', { days: [1, 2, 3, 4, 5] }, '2031-03-08T15:00:00Z', '2031-03-10T13:30:00.000Z'],
  [
    'a time that the change of clocks leaves out',
    '{{zone}}',
    { time: 150 },
    '2031-03-09T03:00:00Z',
    '2031-03-09T07:00:00.000Z',
  ],
  ['a zone', 'Asia/Tokyo', {}, '2031-03-08T15:00:00Z', '2031-03-09T00:30:00.000Z'],
  ['a number without a zone', '+80012345678', {}, '2031-03-08T15:00:00Z', '2031-03-09T09:30:00.000Z'],
  // The last of Australia's are the Cocos Islands, at UTC+6:30.
  ['a number in several zones', '+61491570006', {}, '2031-03-08T15:00:00Z', '2031-03-09T03:00:00.000Z'],
])('a run sleeps until a local time: %s', async (_, of, given, from, wakeAt) => {
  const context = { phone_number: '+12125550100', zone: 'america/new_york' };
  const run = await begin([sleep(of, given), ring({ to: '+12125550101' })], context, from);
  const asleep = await server.comesTo(run, 'waiting_schedule');
  expect(asleep).toMatchObject({ wakeAt, currentNodeId: 'sleep' });
  advanceTo(wakeAt);
  expect(await server.comesTo(run, 'completed', 'failed')).toMatchObject({ status: 'completed' });
});

test.each([
  ['+1', '"+1": There is no such phone number. Give one in E.164 form, such as +14155550100, or an IANA time zone.'],
  ['PST', '"PST": PST has more than one meaning. Write America/Los_Angeles or Asia/Manila.'],
  ['', '"": There is no such time zone. Give an IANA name such as Europe/Berlin.'],
])('a place that is none fails the run: %j', async (place, message) => {
  const run = await begin([sleep('{{place}}'), ring()], { place }, '2031-03-10T12:00:00Z');
  const error = { code: 'invalid_time_zone', message, nodeId: 'sleep' };
  expect(await server.comesTo(run, 'completed', 'failed')).toMatchObject({ status: 'failed', error });
});

test('templates tell the agent when, by the clock of whom it calls', async () => {
  const values = {
    greeting: 'Hello {{first_name | default: "there"}}',
    when: '{{appointment | in: phone_number | format: weekday}} at {{appointment | in: phone_number | format: time}}',
    remind_at: '{{appointment | in: phone_number | minus: "P1D"}}',
  };
  const context = { phone_number: '+12125550101', appointment: '2031-03-10T13:30:00Z' };
  const run = await begin(
    [set('say', values, 'ring'), ring({ variables: { ...values } })],
    context,
    '2031-03-01T15:00:00Z',
  );
  const done = await server.comesTo(run, 'completed', 'failed');
  const said = { greeting: 'Hello there', when: 'Monday at 9:30 AM', remind_at: '2031-03-09T09:30:00-04:00' };
  expect(done).toMatchObject({ status: 'completed', context: said });
  const { data } = await server.client.GET('/v1/calls', { params: { query: { workflowRunId: run.id } } });
  expect(data!.items).toMatchObject([{ variables: said }]);
});

test('a time that can not be read fails the step, and names the place, the text and what would be right', async () => {
  const values = { when: '{{appointment | format: date}}' };
  const run = await begin([set('say', values)], { appointment: 'next week' }, '2031-03-01T15:00:00Z');
  const message =
    '{{appointment | format: date}}: "next week" is no time. Give an RFC 3339 time such as 2026-11-20T09:30:00Z, or a date such as 2026-11-20.';
  const error = { code: 'invalid_time', message, nodeId: 'say' };
  expect(await server.comesTo(run, 'completed', 'failed')).toMatchObject({ status: 'failed', error });
});

test('what is wrong with templates and waits is refused when publishing, with its place', async () => {
  const nodes: Node[] = [
    set('say', { deep: ['{{a | defalt: "x"}}'], zone: '{{a | in: "PST"}}' }, 'sleep'),
    sleep('Mars/Olympus', { time: 1439 }),
    ring({ variables: { when: '{{a | plus: "1 day"}}', path: '{{a | in: __proto__.b}}' } }),
  ];
  const body = { ...flow(...nodes), requiredContext: ['a', 'phone_number'] };
  const created = await server.client.POST('/v1/workflows', { body });
  const params = { path: { workflowId: created.data!.data.id } };
  const { error, response } = await server.client.POST('/v1/workflows/{workflowId}/publish', { params });
  expect(response.status).toBe(400);
  expect(error!.details!.map(({ nodeId, path, message }) => `${nodeId} ${path} ${message}`)).toEqual([
    'say /body/nodes/0/values/deep/0 {{a | defalt: "x"}} is no template. There is no filter defalt. There are default, plus, minus, in and format.',
    'say /body/nodes/0/values/zone {{a | in: "PST"}} is no template. PST has more than one meaning. Write America/Los_Angeles or Asia/Manila.',
    'sleep /body/nodes/1/until/of There is no such time zone. Give an IANA name such as Europe/Berlin.',
    'ring /body/nodes/2/variables/when {{a | plus: "1 day"}} is no template. plus takes one ISO 8601 duration without a sign, of at most 1000 years: plus: "P1D", plus: "PT2H30M".',
    'ring /body/nodes/2/variables/path {{__proto__.b}} can never have a value.',
    'ring /body/nodes/2/variables/path No path to this node sets __proto__. Set it before, or add it to requiredContext.',
  ]);
});

test.each([
  { time: 1440, of: 'UTC' },
  { time: 570 },
  { time: 570, of: 'UTC', days: [] },
  { time: 570, of: 'UTC', days: [8] },
  { time: 570, of: 'UTC', days: [1, 1] },
  { time: 9.5, of: 'UTC' },
  { time: 570, of: 'UTC', day: [1] },
])('a local time such as %j is refused in a draft', async (wrong) => {
  const nodes = [{ ...sleep('UTC'), until: wrong as never }, ring()];
  const { response } = await server.client.POST('/v1/workflows', { body: flow(...nodes) });
  expect(response.status).toBe(400);
});
