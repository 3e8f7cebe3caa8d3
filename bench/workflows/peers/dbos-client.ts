import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { atEnd } from '../../at-end.ts';
import { POOL_SIZE } from '../../postgres.ts';

export const QUEUE = 'bench';
export const WORKFLOW = 'steps';

/** Opens what another process enqueues runs by. Returns what enqueues one. */
export async function openDbosClient(systemDatabaseUrl: string) {
  const client = await DBOSClient.create({ systemDatabaseUrl, systemDatabasePoolSize: POOL_SIZE });
  atEnd(() => client.destroy());
  return (workflowID: string, steps: number) =>
    client.enqueue({ workflowName: WORKFLOW, queueName: QUEUE, workflowID }, steps);
}
