import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { definitionOf, end, set, wait } from './nodes.ts';
import { type RunServer, startRunServer, type WorkflowRun } from './run-server.ts';

let server: RunServer;
let workflowId: string;

beforeAll(async () => {
  server = await startRunServer();
  workflowId = await server.publish(definitionOf([set('a', { n: 1 }, 'later'), wait('later', 3600), end()]));
});
afterAll(() => server.stop());

/** Opens the stream of a run. */
const open = ({ id, automationId }: WorkflowRun, lastEventId?: string) =>
  fetch(`${server.url}/v1/workflows/${automationId}/runs/${id}/events`, {
    headers: { 'X-API-Key': server.apiKey, ...(lastEventId && { 'Last-Event-ID': lastEventId }) },
  });

interface Frame {
  id: string;
  event: string;
  data: { eventId: string; eventType: string; data: WorkflowRun };
}

/** The frames of a stream, as they come; pings are left out. */
async function* framesOf(response: Response): AsyncGenerator<Frame> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
      const lines = text.slice(0, at).split('\n');
      text = text.slice(at + 2);
      const of = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (of('id')) yield { id: of('id')!, event: of('event')!, data: JSON.parse(of('data')!) };
    }
  }
}

const wake = (concurrencyKey: string) =>
  server.client.POST('/v1/workflows/{workflowId}/runs/wake', {
    params: { path: { workflowId } },
    body: { concurrencyKeys: [concurrencyKey] },
  });

test('the stream begins with the state, tells each status, and ends with the run; a reconnect then has nothing', async () => {
  const run = await server.begin(workflowId, { concurrencyKey: 'whole' });
  await server.comesTo(run, 'waiting_schedule');
  const frames = framesOf(await open(run));
  const first = (await frames.next()).value as Frame;
  const atLater = { currentNodeId: 'later', currentNodeTitle: 'later' };
  expect(first).toMatchObject({ event: 'workflow_run.waiting_schedule', data: { data: { id: run.id, ...atLater } } });
  expect(first.data.data).not.toHaveProperty('steps');
  await wake('whole');
  const rest: Frame[] = [];
  for await (const frame of frames) rest.push(frame);
  expect(rest.map(({ event }) => event)).toEqual(['workflow_run.running', 'workflow_run.completed']);
  for (const { id, event, data } of rest) {
    expect(data).toMatchObject({ eventId: id, eventType: event, data: { revision: Number(id) } });
  }
  const last = rest.at(-1)!.id;
  expect((await open(run, last)).status).toBe(204);
  const missed: Frame[] = [];
  for await (const frame of framesOf(await open(run, first.id))) missed.push(frame);
  expect(missed).toEqual(rest);
  for (const unknown of ['999', 'x']) {
    const frame = (await framesOf(await open(run, unknown)).next()).value as Frame;
    expect(frame).toMatchObject({ id: last, event: 'workflow_run.completed' });
  }
});

test('every change of status is an event that names the node by title, and every change raises the revision by one', async () => {
  const run = await server.begin(workflowId, { concurrencyKey: 'journal' });
  await server.comesTo(run, 'waiting_schedule');
  await wake('journal');
  const { revision } = await server.comesTo(run, 'completed');
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ revision: number; type: string; title: string | null }>`
      select revision, type, data ->> 'currentNodeTitle' as title from events
      where resource_id = ${fromId(run.id)} order by revision`.execute(db),
  );
  expect(rows).toEqual([
    { revision: 1, type: 'workflow_run.queued', title: null },
    { revision: 2, type: 'workflow_run.running', title: 'later' },
    { revision: 3, type: 'workflow_run.waiting_schedule', title: 'later' },
    // Woken at 4, which is no new status.
    { revision: 5, type: 'workflow_run.running', title: 'done' },
    { revision: 6, type: 'workflow_run.completed', title: null },
  ]);
  expect(revision).toBe(6);
});

test('where the events are gone, the state is sent', async () => {
  const run = await server.begin(workflowId, { concurrencyKey: 'gone' });
  await server.comesTo(run, 'waiting_schedule');
  await server.database.inEngine(({ db }) => sql`delete from events where resource_id = ${fromId(run.id)}`.execute(db));
  const frame = (await framesOf(await open(run, '1')).next()).value as Frame;
  expect(frame).toMatchObject({ id: '3', event: 'workflow_run.waiting_schedule' });
});
