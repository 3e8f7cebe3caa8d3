import type { TrunklineClient } from '@trunkline/client';
import type { components, paths } from '@trunkline/client/schema';
import createClient from 'openapi-fetch';
import type { Definition } from '../../../src/dialing/workflows/definitions/definition.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
import { startTestServer, type TestOverrides } from '../../server.ts';
import { until } from '../../until.ts';

export type WorkflowRun = components['schemas']['WorkflowRun'];

/** What a start brings beside the workflow. */
export interface StartGiven {
  context?: Record<string, unknown>;
  idempotencyKey?: string;
  concurrencyKey?: string;
  /** As it stands in the header. */
  cooldownMinutes?: string;
}

/** A whole server on which workflows run. */
export async function startRunServer(overrides: TestOverrides = {}) {
  const server = await startTestServer({
    ...overrides,
    config: { simulatorSpeed: 1000, outboundAllowedAddresses: localhost, ...overrides.config },
  });
  const { data } = await server.client.GET('/v1/workspace');
  const workspaceId = fromId(data!.data.id);
  const raw = createClient<paths>({ baseUrl: server.url }) as unknown as TrunklineClient;

  const publish = async (definition: Definition) =>
    toId('wf', await seedWorkflow(server.database, workspaceId, definition));

  /** Starts a run and answers as the server does; nothing is tried again. */
  const start = (workflowId: string, given: StartGiven = {}) => {
    const { context, idempotencyKey = newUuid(), concurrencyKey, cooldownMinutes } = given;
    return raw.POST('/v1/workflows/{workflowId}/run', {
      params: {
        path: { workflowId },
        header: {
          'Idempotency-Key': idempotencyKey,
          ...(concurrencyKey !== undefined && { 'Concurrency-Key': concurrencyKey }),
          ...(cooldownMinutes !== undefined && { 'Cooldown-Minutes': cooldownMinutes as never }),
        },
      },
      headers: { 'X-API-Key': server.apiKey },
      body: context === undefined ? {} : { context },
    });
  };

  const begin = async (workflowId: string, given: StartGiven = {}): Promise<WorkflowRun> => {
    const { data: answer, error } = await start(workflowId, given);
    if (!answer) throw new Error(JSON.stringify(error));
    return answer.data;
  };

  const read = async ({ id, automationId }: Pick<WorkflowRun, 'id' | 'automationId'>): Promise<WorkflowRun> => {
    const params = { path: { workflowId: automationId, runId: id } };
    const { data: answer, error } = await server.client.GET('/v1/workflows/{workflowId}/runs/{runId}', { params });
    if (!answer) throw new Error(JSON.stringify(error));
    return answer.data;
  };

  /** Waits until a run has come to a status. */
  const comesTo = async (run: Pick<WorkflowRun, 'id' | 'automationId'>, ...statuses: WorkflowRun['status'][]) => {
    let last: WorkflowRun | undefined;
    await until(async () => {
      last = await read(run);
      return statuses.includes(last.status);
    }).catch((error) => {
      throw new Error(`${error.message} The run is ${JSON.stringify(last)}`);
    });
    return last!;
  };

  /** Publishes a definition, starts a run of it, and waits for its end. */
  const carryOut = async (definition: Definition, given: StartGiven = {}) =>
    comesTo(await begin(await publish(definition), given), 'completed', 'failed', 'cancelled');

  return { ...server, workspaceId, raw, publish, start, begin, read, comesTo, carryOut };
}

const localhost = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

export type RunServer = Awaited<ReturnType<typeof startRunServer>>;
