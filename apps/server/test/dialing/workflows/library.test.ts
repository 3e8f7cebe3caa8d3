import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../src/dialing/workflows/definitions/definition.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { type RunServer, startRunServer, type WorkflowRun } from './run-server.ts';

let server: RunServer;
let crm: Server;
let crmUrl: string;
const told: unknown[] = [];

beforeAll(async () => {
  server = await startRunServer();
  await seedNumber(server.database, server.workspaceId, '+14155550100');
  crm = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      told.push(JSON.parse(body));
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => crm.listen(0, '127.0.0.1', resolve));
  crmUrl = `http://127.0.0.1:${(crm.address() as AddressInfo).port}/leads`;
});
afterAll(async () => {
  crm.close();
  await server.stop();
});

/** Creates and publishes a definition of the library, as a user does. */
async function fromLibrary(name: string): Promise<string> {
  const file = path.join(import.meta.dirname, '../../../../../docs/workflows', `${name}.json`);
  const body = JSON.parse(readFileSync(file, 'utf8')) as Definition;
  const created = await server.client.POST('/v1/workflows', { body });
  const workflowId = created.data!.data.id;
  const published = await server.client.POST('/v1/workflows/{workflowId}/publish', {
    params: { path: { workflowId } },
  });
  expect(published.error).toBeUndefined();
  return workflowId;
}

/** Moves the clock whenever the run sleeps, until it has ended. */
async function toItsEnd(run: WorkflowRun): Promise<WorkflowRun> {
  let now = run;
  await until(async () => {
    now = await server.read(run);
    if (now.status === 'waiting_schedule') {
      const ahead = Date.parse(now.wakeAt!) - server.clock.now().getTime();
      if (ahead > 0) server.clock.advance(ahead);
    }
    return ['completed', 'failed', 'cancelled'].includes(now.status);
  });
  return now;
}

const nodesOf = (run: WorkflowRun) => run.steps!.map(({ nodeId }) => nodeId);

test('missed appointment: who does not answer is called once more', async () => {
  const workflowId = await fromLibrary('missed-appointment-reminder');
  const context = { first_name: 'Ada', appointment: 'Tuesday at nine' };
  const reached = await toItsEnd(
    await server.begin(workflowId, { context: { ...context, phone_number: '+14155550101' } }),
  );
  expect(reached).toMatchObject({ status: 'completed', output: { rebooked: false } });
  expect(nodesOf(reached)).toEqual(['ring', 'rebooked', 'done-without-time']);
  const busyOnce = await toItsEnd(
    await server.begin(workflowId, { context: { ...context, phone_number: '+14155550172' } }),
  );
  expect(busyOnce).toMatchObject({ status: 'completed' });
  expect(nodesOf(busyOnce)).toEqual(['ring', 'later', 'ring-again', 'rebooked', 'done-without-time']);
  const never = await toItsEnd(
    await server.begin(workflowId, { context: { ...context, phone_number: '+14155550108' } }),
  );
  expect(never).toMatchObject({ status: 'failed', output: { lastOutcome: 'no_answer' } });
});

test('lead call-back: three tries, and the CRM is told of the last', async () => {
  const workflowId = await fromLibrary('lead-call-back');
  const context = { first_name: 'Ada', lead_id: 'lead-7', crm_url: crmUrl };
  const third = await toItsEnd(
    await server.begin(workflowId, { context: { ...context, phone_number: '+14155550173' } }),
  );
  expect(third).toMatchObject({ status: 'completed', output: { crmStatus: 200 } });
  expect(nodesOf(third)).toEqual(['ring-1', 'wait-1', 'ring-2', 'wait-2', 'ring-3', 'tell-crm', 'was-reached', 'done']);
  expect(told.at(-1)).toMatchObject({ lead: 'lead-7', outcome: 'answered' });
  const lost = await toItsEnd(
    await server.begin(workflowId, { context: { ...context, phone_number: '+14155550108' } }),
  );
  expect(lost).toMatchObject({ status: 'failed', output: { lastOutcome: 'no_answer' } });
  expect(told.at(-1)).toMatchObject({ lead: 'lead-7', outcome: 'no_answer' });
});

test.each([
  [120, 'ring-assistant', { reminded: true, outcome: 'answered' }],
  [5000, 'ring-advisor', { reminded: true, outcome: 'answered' }],
  [0, 'nothing-due', { reminded: false }],
])('payment reminder: sleeps until the day, and branches by an amount of %i', async (amount, node, output) => {
  const workflowId = await fromLibrary('payment-reminder');
  const due = new Date(server.clock.now().getTime() + 86_400_000).toISOString();
  const context = { first_name: 'Ada', invoice: 'R-1', amount, due_at: due, phone_number: '+14155550101' };
  const run = await toItsEnd(await server.begin(workflowId, { context }));
  expect(run).toMatchObject({ status: 'completed', output: { invoice: 'R-1', ...output } });
  expect(nodesOf(run).slice(0, 3)).toEqual(['until-due', 'how-much', node]);
});
