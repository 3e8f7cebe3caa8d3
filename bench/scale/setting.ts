import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@trunkline/client';
import { fromId } from '../../apps/server/src/foundation/values/ids.ts';
import { newKey } from '../../apps/server/src/platform/api-keys/key.ts';
import { seedCampaign } from '../../apps/server/test/seed/campaign.ts';
import { seedNumber } from '../../apps/server/test/seed/workspace.ts';
import { forkTrunkline } from '../child.ts';
import { asSuperuser, POOL_SIZE, type Postgres, temporaryFolder } from '../postgres.ts';
import { startReceiver } from '../webhooks/endpoint.ts';
import { fill, type Owners } from './fill.ts';

/** From which runs of the workflow call. */
export const CALLER = '+12125550100';

/** A whole server on a database with so many rows in each table that grows. */
export interface Setting {
  connectionString: string;
  owners: Owners;
  client: ReturnType<typeof createClient>;
  get(path: string): Promise<{ nextCursor?: string }>;
  /** Bytes of a row of each table, with its indexes. */
  rowBytes: Map<string, number>;
  /** Asks as the superuser, whose statements do not count. @returns the first row */
  ask<Row>(statement: string): Promise<Row>;
  /** Waits until a query, as the superuser, answers no row. */
  untilNone(query: string): Promise<void>;
  /** Waits until all events are told. */
  untilDelivered(): Promise<void>;
  /** Begins to count: what was done before only led to the work. */
  forget(): Promise<unknown>;
  end(): Promise<void>;
}

const workflow = {
  name: 'Call back',
  startNodeId: 'note',
  nodes: [
    { id: 'note', type: 'set', title: 'Note', values: { noted: true }, next: 'ring' },
    {
      ...{ id: 'ring', type: 'call', title: 'Ring', to: '{{phone}}', fromNumber: CALLER, agentId: 'agent' },
      next: 'done',
    },
    { id: 'done', type: 'end', title: 'Done', status: 'completed' },
  ],
};

/**
 * Makes a database as a server leaves it, fills it, and starts a server on it that calls as fast as it can.
 * @param forget begins to count what statements touch
 */
export async function startSetting(
  postgres: Postgres,
  rows: number,
  forget: (connectionString: string) => Promise<unknown>,
): Promise<Setting> {
  const { database, connectionString, drop } = await postgres.database();
  const receiver = await startReceiver();
  const apiKey = newKey('bench');
  const environment = {
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    BOOTSTRAP_API_KEY: apiKey,
    POOL_SIZE: String(POOL_SIZE),
    RATE_LIMIT_PER_MINUTE: '0',
    SIMULATOR_SPEED: '100000',
    OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1',
    CALL_RETENTION_DAYS: '60',
    RUN_RETENTION_DAYS: '60',
    AUDIT_RETENTION_DAYS: '60',
  };
  const start = async () => {
    const server = await forkTrunkline(environment);
    const baseUrl = `http://127.0.0.1:${server.port}`;
    return { server, baseUrl, client: createClient({ baseUrl, apiKey }) };
  };

  const first = await start();
  const { url } = receiver;
  const webhook = await first.client.webhooks.create({
    url,
    eventTypes: ['call.ended', 'workflow_run.completed', 'workflow_run.failed'],
  });
  const { id: workspaceId } = await asSuperuser<{ id: string }>(connectionString, 'select id from workspaces');
  const phoneNumberId = await seedNumber(database, workspaceId, CALLER);
  const { id: workflowId } = await first.client.workflows.create(workflow as never);
  await first.client.workflows.publish(workflowId);
  await first.server.end();

  const { campaignId, listId, uploadId } = await seedCampaign(database, {
    contacts: 0,
    workspaceId,
    campaign: { contacts_added: true, status: 'paused', max_concurrency: 200, total_contacts: rows, pending: rows / 2 },
  });
  await asSuperuser(
    connectionString,
    `update contact_lists set total_entries = ${rows}`,
    `insert into campaign_lanes (workspace_id, campaign_id, lane, timezones, opens_at, closes_at)
      values ('${workspaceId}', '${campaignId}', 1, '{UTC}', 'epoch', 'epoch')`,
    'update workspaces set max_attempts_per_person_per_day = 50, max_calls_per_day = 1000000000',
  );
  const owners = {
    ...{ workspaceId, phoneNumberId, campaignId, listId, uploadId },
    ...{ webhookId: fromId(webhook.id), workflowId: fromId(workflowId) },
  };
  const rowBytes = await fill(connectionString, owners, rows);
  await forget(connectionString);
  const { server, baseUrl, client } = await start();
  const ask = <Row>(statement: string) => asSuperuser<Row>(connectionString, statement);
  const untilNone = async (query: string) => {
    while (await ask(query)) await sleep(100);
  };
  return {
    ...{ connectionString, owners, client, rowBytes },
    get: async (path) => {
      const answer = await fetch(`${baseUrl}${path}`, { headers: { 'X-API-Key': apiKey } });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { nextCursor?: string };
    },
    ask,
    untilNone,
    untilDelivered: async () => {
      await untilNone('select 1 from events_to_hand_over limit 1');
      await untilNone("select 1 from webhook_deliveries where status = 'pending' limit 1");
    },
    forget: () => forget(connectionString),
    end: async () => {
      await server.end();
      await receiver.end();
      await drop();
    },
  };
}
