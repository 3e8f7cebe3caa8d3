// A process with DBOS in it, which runs the workflows that it starts itself, is asked for, and that others enqueue.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { settingsOf, tell } from '../../child.ts';
import { POOL_SIZE } from '../../postgres.ts';
import { carryOut, type Order } from '../starts.ts';
import { QUEUE, WORKFLOW } from './dbos-client.ts';

const { connectionString } = settingsOf<{ connectionString: string }>();
let ended = 0;

const workflow = DBOS.registerWorkflow(
  async (steps) => {
    for (let i = 0; i < steps; i += 1) await DBOS.runStep(async () => i, { name: `step ${i}` });
    ended += 1;
  },
  { name: WORKFLOW },
);
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: connectionString,
  systemDatabasePoolSize: POOL_SIZE,
  logLevel: 'error',
});
await DBOS.launch();
await DBOS.registerQueue(QUEUE);

const runner = {
  start: (workflowID: string, steps: number) => DBOS.startWorkflow(workflow, { workflowID })(steps),
  ended: async () => ended,
};

// The least that a service does which lets others start workflows.
const server = createServer(async (request, response) => {
  const { key, steps } = (await json(request)) as { key: string; steps: number };
  await runner.start(key, steps);
  const body = JSON.stringify({ id: key });
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});
await once(server.listen(0, '127.0.0.1'), 'listening');

tell((server.address() as AddressInfo).port, async (question) =>
  'runs' in question ? carryOut(question as Order, runner) : ended,
);
