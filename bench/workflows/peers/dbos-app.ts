// A process with DBOS in it, which runs the workflows that it starts itself, and those that others enqueue.
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

tell(0, async (question) => ('runs' in question ? carryOut(question as Order, runner) : ended));
