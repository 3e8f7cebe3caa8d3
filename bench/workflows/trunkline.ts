import { newKey } from '../../apps/server/src/platform/api-keys/key.ts';
import { atEnd } from '../at-end.ts';
import { forkTrunkline } from '../child.ts';
import { keepConnections } from '../connections.ts';
import { requestText } from '../load.ts';
import { POOL_SIZE, type Postgres, temporaryFolder } from '../postgres.ts';
import { carryOut, type Steps, type System } from './starts.ts';

/** A whole Trunkline server on a database of its own, asked over HTTP. */
export async function startTrunkline(postgres: Postgres) {
  const { database, connectionString } = await postgres.database();
  const apiKey = newKey('bench');
  const { port, pid } = await forkTrunkline({
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    BOOTSTRAP_API_KEY: apiKey,
    POOL_SIZE: String(POOL_SIZE),
    RATE_LIMIT_PER_MINUTE: '10000000',
  });
  const { send, close } = keepConnections(port);
  atEnd(async () => close());

  const post = (status: number, path: string, body?: object, headers: Record<string, string> = {}) =>
    send(requestText('POST', `/v1/workflows${path}`, { 'X-API-Key': apiKey, ...headers }, body), status);
  /** Publishes a workflow. Returns its ID. */
  const publish = async (definition: object): Promise<string> => {
    const id = /"id":"(wf_\w+)"/.exec(await post(201, '', definition))![1]!;
    await post(200, `/${id}/publish`, {});
    return id;
  };
  const start = (workflowId: string, key: string, headers: Record<string, string> = {}) =>
    post(202, `/${workflowId}/run`, { context: {} }, { 'Idempotency-Key': key, ...headers });

  const isOneLeft = (due: 'due_at' | 'server_id') =>
    database.inEngine(({ db }) =>
      db.selectFrom('workflow_runs').select('id').where(due, 'is not', null).limit(1).executeTakeFirst(),
    );
  const workflows = { 1: await publish(definitionOf(1)), 5: await publish(definitionOf(5)) };
  let started = 0;
  const runner = {
    start: (key: string, steps: Steps) => {
      started += 1;
      return start(workflows[steps], key);
    },
    // To count them would keep the database from its work: are there runs that are due, or that the server holds?
    ended: async () => (((await isOneLeft('due_at')) ?? (await isOneLeft('server_id'))) ? 0 : started),
  };
  const system: System = { carryOut: (order) => carryOut(order, runner), pids: [pid, postgres.pid] };
  return { system, connectionString, publish, post, start };
}

export type Trunkline = Awaited<ReturnType<typeof startTrunkline>>;

/** Nodes of which each sets a value, and an end. */
function definitionOf(steps: Steps) {
  const nodes = Array.from({ length: steps }, (_, i) => ({
    id: `step-${i}`,
    type: 'set',
    title: `Step ${i}`,
    values: { [`step ${i}`]: i },
    next: i + 1 < steps ? `step-${i + 1}` : 'done',
  }));
  const end = { id: 'done', type: 'end', title: 'Done', status: 'completed' };
  return { name: `Steps: ${steps}`, startNodeId: 'step-0', nodes: [...nodes, end] };
}
