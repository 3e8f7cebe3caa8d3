import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { BrakeRow } from './read-brakes.ts';
import { MOST_COUNTED, type QueueRow } from './read-queues.ts';
import type { LeaseRow, ServerRow } from './read-servers.ts';

type Schemas = components['schemas'];

/** A time under its name, or nothing where there is none. */
const time = <Name extends string>(name: Name, at: Date | null) =>
  (at ? { [name]: at.toISOString() } : {}) as { [N in Name]?: string };

export const presentServer = (row: ServerRow): Schemas['OperatorServer'] => ({
  serverId: toId('srv', row.id),
  ...(row.version !== null && { version: row.version }),
  status: row.status,
  startedAt: row.started_at.toISOString(),
  ...time('lastHeartbeatAt', row.renewed_at),
  ...time('leaseUntil', row.lease_until),
});

export const presentLease = (row: LeaseRow): Schemas['OperatorLease'] => ({
  kind: row.kind,
  ...(row.server_id !== null && { serverId: toId('srv', row.server_id) }),
  count: row.count,
  ...time('since', row.since),
  ...time('until', row.until),
});

export const presentQueue = (row: QueueRow, oldestSeconds: number | undefined): Schemas['OperatorQueue'] => ({
  name: row.name,
  waiting: Math.min(row.waiting, MOST_COUNTED),
  hasMore: row.waiting > MOST_COUNTED,
  ...(oldestSeconds !== undefined && { oldestSeconds }),
  ...(row.retrying !== null && { retrying: Math.min(row.retrying, MOST_COUNTED) }),
  ...(row.failed !== null && { failed: row.failed }),
});

/** What is held back, under the name of its kind. */
function resourceOf({ kind, resource, is_batch }: BrakeRow) {
  if (resource === null) return {};
  if (kind.startsWith('trunk_')) return { trunkId: toId('trk', resource) };
  if (kind.startsWith('agent_')) return { agentId: resource };
  if (kind.startsWith('webhook_')) return { webhookId: toId('whk', resource) };
  return is_batch ? { batchId: toId('bat', resource) } : { campaignId: toId('cmp', resource) };
}

export const presentBrake = (row: BrakeRow): Schemas['OperatorBrake'] => ({
  kind: row.kind,
  ...(row.workspace_id !== null && { workspaceId: toId('ws', row.workspace_id) }),
  ...resourceOf(row),
  ...(row.reason !== null && { reason: row.reason }),
  ...time('since', row.since),
  ...time('until', row.until),
});
