import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  CallNode,
  ChildNode,
  Definition,
  HttpNode,
  Node,
} from '../../../src/dialing/workflows/definitions/definition.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { insertRows } from '../../seed/rows.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { definitionOf, end, set, wait } from './nodes.ts';
import { type RunServer, startRunServer } from './run-server.ts';

const FROM = '+12125550199';
let server: RunServer;
let web: Server;
let url: string;
/** How the web server answers, and what it was asked. */
let answer: (request: IncomingMessage, body: string) => { status: number; body?: string; type?: string };
let asked: { method: string; key: string; body: string }[] = [];

beforeAll(async () => {
  server = await startRunServer();
  await seedNumber(server.database, server.workspaceId, FROM);
  web = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      asked.push({ method: request.method!, key: String(request.headers['idempotency-key']), body });
      const { status, body: text = '', type = 'application/json' } = answer(request, body);
      response.writeHead(status, { 'Content-Type': type }).end(text);
    });
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(async () => {
  web.close();
  await server.stop();
});
beforeEach(() => {
  asked = [];
});

const call = (given: Partial<CallNode> = {}): CallNode => ({
  id: 'ring',
  type: 'call',
  title: 'Ring',
  agentId: 'agent',
  fromNumber: FROM,
  to: '{{phone_number}}',
  next: 'done',
  ...given,
});

const http = (given: Partial<HttpNode> = {}): HttpNode => ({
  id: 'tell',
  type: 'http',
  title: 'Tell',
  method: 'POST',
  url,
  next: 'done',
  ...given,
});

const child = (workflowId: string, given: Partial<ChildNode> = {}): ChildNode => ({
  id: 'child',
  type: 'workflow',
  title: 'Child',
  workflowId,
  next: 'done',
  ...given,
});

const failing = end('wrong', { status: 'failed' });
const flow = (...nodes: Node[]): Definition => definitionOf([...nodes, end(), failing]);

describe('call', () => {
  test.each([
    ['+14155550100', 'answered'],
    ['+14155550108', 'no_answer'],
    ['+14155550186', 'busy'],
  ])('%s is %s, and leads where the definition says', async (phone_number, outcome) => {
    const ring = call({ outcomes: { [outcome]: 'mark' }, next: 'wrong', variables: { first_name: '{{name}}' } });
    const run = await server.carryOut(flow(ring, set('mark', { got: '{{call.outcome}}' })), {
      context: { phone_number, name: 'Ada' },
    });
    expect(run).toMatchObject({ status: 'completed', context: { got: outcome, call: { outcome } } });
    const step = run.steps![0]!;
    expect(step).toMatchObject({ nodeType: 'call', status: 'completed', nextNodeId: 'mark' });
    const { data } = await server.client.GET('/v1/calls', { params: { query: { workflowRunId: run.id } } });
    expect(data!.items).toMatchObject([
      { roomId: step.roomId, workflowRunId: run.id, toNumber: phone_number, outcome, variables: { first_name: 'Ada' } },
    ]);
    expect(run.context!['call']).toMatchObject({ roomId: step.roomId });
  });

  test('who must not be called is not called', async () => {
    const phone_number = '+14155550177';
    await server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [phone_number] } });
    const run = await server.carryOut(flow(call({ outcomes: { do_not_call: 'done' }, next: 'wrong' })), {
      context: { phone_number },
    });
    expect(run).toMatchObject({ status: 'completed', context: { call: { outcome: 'do_not_call' } } });
    expect(run.steps![0]).not.toHaveProperty('roomId');
  });

  test('what is no number leads like an invalid one', async () => {
    const ring = call({ outcomes: { invalid_number: 'done' }, next: 'wrong' });
    expect(await server.carryOut(flow(ring), { context: { phone_number: 'Ada' } })).toMatchObject({
      status: 'completed',
    });
  });

  test('a template without a value fails the run, and names key and node', async () => {
    const run = await server.carryOut(flow(call()));
    expect(run).toMatchObject({
      status: 'failed',
      error: {
        code: 'template_key_missing',
        message: 'The context has no value for phone_number.',
        nodeId: 'ring',
      },
    });
    expect(run.steps).toMatchObject([{ status: 'failed', error: { code: 'template_key_missing' } }]);
  });

  test('a run without a caller ID is blocked, and goes on when there is one', async () => {
    const fromNumber = '+12125550188';
    const workflowId = await server.publish(flow(call({ fromNumber })));
    const run = await server.begin(workflowId, { context: { phone_number: '+14155550100' } });
    expect(await server.comesTo(run, 'blocked')).toMatchObject({ error: { code: 'no_caller_id', nodeId: 'ring' } });
    await seedNumber(server.database, server.workspaceId, fromNumber);
    expect(await server.comesTo(run, 'completed')).not.toHaveProperty('error');
  });

  test('a run that stays blocked for 24 hours fails', async () => {
    const workflowId = await server.publish(flow(call({ fromNumber: '+12125550177' })));
    const run = await server.begin(workflowId, { context: { phone_number: '+14155550100' } });
    const { revision } = await server.comesTo(run, 'blocked');
    server.clock.advance(70_000);
    await until(async () => (await server.read(run)).revision > revision);
    expect((await server.read(run)).status).toBe('blocked');
    server.clock.advance(24 * 3_600_000);
    expect(await server.comesTo(run, 'failed')).toMatchObject({ error: { code: 'blocked_too_long' } });
  });

  test('what the agent has recorded of the call is in the context', async () => {
    const slow = await startRunServer({ config: { simulatorSpeed: 1 } });
    await seedNumber(slow.database, slow.workspaceId, FROM);
    const run = await slow.begin(await slow.publish(flow(call())), { context: { phone_number: '+14155550100' } });
    const roomId = await liveRoom(slow, run.id);
    const params = { path: { roomId } };
    await slow.client.POST('/v1/calls/{roomId}/result', { params, body: { data: { wants: 'Tuesday' } } });
    await slow.client.POST('/v1/calls/{roomId}/end', { params });
    expect(await slow.comesTo(run, 'completed')).toMatchObject({ context: { call: { data: { wants: 'Tuesday' } } } });
    await slow.stop();
  });

  test('cancelling a run hangs up its call', async () => {
    const slow = await startRunServer({ config: { simulatorSpeed: 1 } });
    await seedNumber(slow.database, slow.workspaceId, FROM);
    const run = await slow.begin(await slow.publish(flow(call())), { context: { phone_number: '+14155550100' } });
    const roomId = await liveRoom(slow, run.id);
    const params = { path: { workflowId: run.automationId, runId: run.id } };
    await slow.client.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', { params });
    await until(async () => {
      const { data } = await slow.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } });
      return data!.endedAt !== undefined;
    });
    expect(await slow.read(run)).toMatchObject({ status: 'cancelled', steps: [{ status: 'cancelled', roomId }] });
    const { rows } = await slow.database.inEngine(({ db }) => sql`select * from run_signals`.execute(db));
    expect(rows).toEqual([]);
    await slow.stop();
  });
});

async function liveRoom(on: RunServer, runId: string): Promise<string> {
  let room: string | undefined;
  await until(async () => {
    const { data } = await on.client.GET('/v1/calls', { params: { query: { workflowRunId: runId } } });
    room = data!.items.find(({ status }) => status === 'ringing' || status === 'in_progress')?.roomId;
    return room !== undefined;
  });
  return room!;
}

describe('http', () => {
  test('sends what the definition says, and keeps the answer', async () => {
    answer = () => ({ status: 200, body: '{"tier":"vip"}' });
    const run = await server.carryOut(flow(http({ body: { name: '{{name}}' }, saveAs: 'crm' })), {
      context: { name: 'Ada' },
    });
    expect(run).toMatchObject({ status: 'completed', context: { crm: { status: 200, body: { tier: 'vip' } } } });
    expect(asked).toEqual([{ method: 'POST', key: `${run.id}-1`, body: '{"name":"Ada"}' }]);
  });

  test('is tried again as often as the definition says, with the same key', async () => {
    answer = () => (asked.length < 3 ? { status: 503 } : { status: 200 });
    const workflowId = await server.publish(flow(http({ retries: 2 })));
    const run = await server.begin(workflowId);
    for (const tries of [1, 2]) {
      await until(async () => asked.length >= tries && (await dueAt(run.id)) !== null);
      server.clock.advance(60_000);
    }
    await server.comesTo(run, 'completed');
    expect(asked.map(({ key }) => key)).toEqual(Array(3).fill(`${run.id}-1`));
    expect((await server.read(run)).steps).toHaveLength(2);
  });

  test.each([
    ['an answer that is no 2xx', () => url, 404, 'http_failed', 'POST answered 404.'],
    ['an address in the own network', () => 'http://10.0.0.1/', 200, 'http_failed', '10.0.0.1 may not be reached.'],
  ])('%s fails the run, or leads to onError', async (_name, to, status, code, message) => {
    answer = () => ({ status });
    const failed = await server.carryOut(flow(http({ url: to() })));
    expect(failed).toMatchObject({ status: 'failed', error: { code, message, nodeId: 'tell' } });
    const handled = await server.carryOut(flow(http({ url: to(), onError: 'done', next: 'wrong' })));
    expect(handled).toMatchObject({ status: 'completed' });
    expect(handled.steps![0]).toMatchObject({ status: 'failed', error: { code, message }, nextNodeId: 'done' });
  });

  test('an answer that the context has no room for fails the run', async () => {
    answer = () => ({ status: 200, type: 'text/plain', body: 'x'.repeat(200_000) });
    const twice = [http({ saveAs: 'a', next: 'more' }), http({ id: 'more', saveAs: 'b' })];
    expect(await server.carryOut(flow(...twice))).toMatchObject({
      status: 'failed',
      error: { code: 'context_too_large', nodeId: 'more' },
    });
  });

  test('many slow requests hold up no other run', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = createServer((_request, response) => void opened.then(() => response.end('{}')));
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const waiting = await server.publish(flow(http({ url: slowUrl, timeoutSeconds: 60 })));
    const runs = await Promise.all(Array.from({ length: 500 }, () => server.begin(waiting)));
    await server.carryOut(flow(set('mark', { a: 1 })));
    open();
    server.clock.advance(2000);
    await until(async () => {
      server.clock.advance(2000);
      return (await countIn(waiting, 'completed')) === runs.length;
    });
    slow.close();
  });
});

const dueAt = async (runId: string): Promise<Date | null> => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ due_at: Date | null }>`select due_at from workflow_runs where id = ${fromId(runId)}`.execute(db),
  );
  return rows[0]!.due_at;
};

const countIn = async (workflowId: string, status: 'completed' | 'failed') => {
  const params = { path: { workflowId }, query: { status, includeTotal: true } };
  return (await server.client.GET('/v1/workflows/{workflowId}/runs', { params })).data!.data.totalCount;
};

describe('workflow', () => {
  test('a child run is waited for, and its output kept', async () => {
    const below = await server.publish(
      flow(set('mark', { n: '{{n}}' }, 'out'), end('out', { output: { n: '{{n}}' } })),
    );
    const run = await server.carryOut(flow(child(below, { context: { n: '{{n}}' }, saveAs: 'below' })), {
      context: { n: 7 },
    });
    const { childRunId } = run.steps![0]!;
    expect(run.context).toMatchObject({ below: { runId: childRunId, status: 'completed', output: { n: 7 } } });
    const { parentRunId, parentStepId } = await server.read({ id: childRunId!, automationId: below });
    expect([parentRunId, parentStepId]).toEqual([run.id, '1']);
  });

  test('a child run that fails leads to onError, or fails its parent', async () => {
    const below = await server.publish(definitionOf([failing]));
    const failed = await server.carryOut(flow(child(below)));
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'child_run_failed', nodeId: 'child' } });
    const handled = await server.carryOut(flow(child(below, { onError: 'done', next: 'wrong', saveAs: 'below' })));
    expect(handled).toMatchObject({ status: 'completed', context: { below: { status: 'failed' } } });
  });

  test('a child run that is not waited for goes its own way', async () => {
    const below = await server.publish(flow(set('mark', { a: 1 })));
    const run = await server.carryOut(flow(child(below, { wait: false, saveAs: 'below' })));
    const { runId } = run.context!['below'] as { runId: string };
    await server.comesTo({ id: runId, automationId: below }, 'completed');
  });

  test.each<[string, () => Promise<string>, string]>([
    ['is unknown', async () => toId('wf', newUuid()), 'workflow_not_found'],
    [
      'is a draft',
      async () =>
        toId('wf', await seedWorkflow(server.database, server.workspaceId, flow(end()), { isPublished: false })),
      'workflow_not_published',
    ],
    [
      'needs more context',
      () => server.publish(definitionOf([end()], { requiredContext: ['phone_number'] })),
      'child_context_missing',
    ],
  ])('a child workflow that %s can not be started', async (_name, make, code) => {
    const run = await server.carryOut(flow(child(await make())));
    expect(run).toMatchObject({ status: 'failed', error: { code, nodeId: 'child' } });
  });

  test.each([true, false])(
    'a workflow that starts itself for ever ends at a depth of ten: waiting %s',
    async (waits) => {
      const id = newUuid();
      const workflowId = toId('wf', id);
      await seedWorkflow(server.database, server.workspaceId, flow(child(workflowId, { wait: waits })), { id });
      await server.begin(workflowId);
      await until(async () => (await countIn(workflowId, 'failed')) === (waits ? 10 : 1));
      const params = { path: { workflowId }, query: { perPage: 100 } };
      const { items } = (await server.client.GET('/v1/workflows/{workflowId}/runs', { params })).data!.data;
      expect(items).toHaveLength(10);
      expect(items[0]).toMatchObject({ status: 'failed', error: { code: 'child_too_deep' } });
    },
  );

  test('cancelling a run cancels those below it; cancelling one below tells its parent', async () => {
    const sleeper = await server.publish(
      flow({ id: 'later', type: 'wait', title: 'Later', seconds: 3600, next: 'done' }),
    );
    const middle = await server.publish(flow(child(sleeper)));
    const top = await server.publish(flow(child(middle, { onError: 'done', next: 'wrong' })));
    const line = async () => {
      const run = await server.begin(top);
      await server.comesTo(run, 'waiting_automation');
      const below = { id: (await server.read(run)).steps![0]!.childRunId!, automationId: middle };
      await server.comesTo(below, 'waiting_automation');
      const lowest = { id: (await server.read(below)).steps![0]!.childRunId!, automationId: sleeper };
      await server.comesTo(lowest, 'waiting_schedule');
      return { run, below, lowest };
    };
    const cancel = ({ id, automationId }: { id: string; automationId: string }) =>
      server.client.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', {
        params: { path: { workflowId: automationId, runId: id } },
      });
    const first = await line();
    await cancel(first.run);
    for (const each of Object.values(first)) expect((await server.read(each)).status).toBe('cancelled');
    const second = await line();
    await cancel(second.below);
    expect((await server.read(second.lowest)).status).toBe('cancelled');
    expect(await server.comesTo(second.run, 'completed')).toMatchObject({
      steps: [{ status: 'failed', error: { code: 'child_run_failed' } }, {}],
    });
  });
});

describe('bounds', () => {
  test('a run takes 10,000 steps and no more; the last 1,000 are shown', async () => {
    const past = { id: 'b', type: 'wait', title: 'B', until: '2020-01-01T00:00:00Z', next: 'a' } as const;
    const workflowId = await server.publish(flow(wait('later', 3600, 'a'), set('a', { n: 1 }, 'b'), past));
    const run = await server.begin(workflowId, { concurrencyKey: 'long' });
    await server.comesTo(run, 'waiting_schedule');
    const named = sql`workspace_id = ${server.workspaceId} and run_id = ${fromId(run.id)}`;
    await server.database.inEngine(async ({ db }) => {
      await sql`update workflow_run_steps set step = 9995 where ${named}`.execute(db);
      const past = { workspace_id: server.workspaceId, run_id: fromId(run.id), node_id: 'a' };
      await insertRows(
        db,
        'workflow_run_steps',
        Array.from({ length: 9994 }, (_, n) => ({ ...past, step: n + 1 })),
      );
      await sql`update workflow_runs set step = 9995 where id = ${fromId(run.id)}`.execute(db);
    });
    const params = { path: { workflowId } };
    await server.client.POST('/v1/workflows/{workflowId}/runs/wake', { params, body: { concurrencyKeys: ['long'] } });
    const failed = await server.comesTo(run, 'failed');
    expect(failed).toMatchObject({ error: { code: 'too_many_steps' } });
    expect(failed.steps).toHaveLength(1000);
    expect(failed.steps!.at(-1)).toMatchObject({ id: '10000', status: 'failed' });
  });

  test('a time that is none fails the run', async () => {
    const until = { id: 'a', type: 'wait', title: 'A', until: '{{when}}', next: 'done' } as const;
    expect(await server.carryOut(flow(until), { context: { when: 'tomorrow' } })).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_time', message: '"tomorrow" is no RFC 3339 time, such as 2026-11-20T09:30:00Z.' },
    });
  });

  test('a context that grows too large fails the run', async () => {
    const double = set('a', { b: '{{a}}', c: '{{a}}', d: '{{a}}', e: '{{a}}' });
    expect(await server.carryOut(flow(double), { context: { a: 'x'.repeat(60_000) } })).toMatchObject({
      status: 'failed',
      error: { code: 'context_too_large', nodeId: 'a' },
    });
  });
});
