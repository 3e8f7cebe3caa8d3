import type { CampaignStatus } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { CampaignStats } from '../campaigns/campaign-stats.ts';
import { abandonedRetryOf, type CampaignRow, metaOf } from '../campaigns/shape-campaign.ts';

export type Batch = components['schemas']['Batch'];
export type BatchStatus = Batch['status'];

/** The states that a batch can move to, as the contract's `x-transitions` show them. */
export const batchTransitions = {
  scheduled: ['running', 'cancelled', 'failed'],
  running: ['paused', 'completed', 'cancelled'],
  paused: ['running', 'cancelled'],
  completed: [],
  cancelled: [],
  failed: [],
} as const satisfies Record<BatchStatus, readonly BatchStatus[]>;

/** The statuses of its campaign in which a batch has a status: to cancel one that runs is to stop its campaign. */
export const campaignStatuses = {
  scheduled: ['scheduled'],
  running: ['running'],
  paused: ['paused'],
  completed: ['completed'],
  cancelled: ['cancelled', 'stopped'],
  failed: ['failed'],
} as const satisfies Record<BatchStatus, readonly CampaignStatus[]>;

export const batchStatus = (status: CampaignStatus): BatchStatus =>
  status === 'stopped' ? 'cancelled' : (status as BatchStatus);

/** What an answer shows of a batch beside its campaign. */
interface Beside {
  rejectedCount: number;
  stats: CampaignStats;
}

const field = <K extends string, V>(name: K, value: V | null) =>
  (value === null ? {} : { [name]: value }) as { [P in K]?: V };

/** A batch as clients see it. */
export function shapeBatch(row: CampaignRow, { rejectedCount, stats }: Beside): Batch {
  const cancelledAt = row.cancelled_at ?? row.stopped_at;
  return {
    batchId: toId('bat', row.id),
    ...(row.name !== '' && { name: row.name }),
    status: batchStatus(row.status),
    agentId: row.agent_id,
    ...field('fromNumber', row.from_number),
    ...field('numberPoolId', row.number_pool_id && toId('pool', row.number_pool_id)),
    ...field('metadata', row.metadata),
    ...field('scheduledAt', row.scheduled_at?.toISOString() ?? null),
    timezone: row.timezone,
    calleeTimeZone: row.callee_time_zone,
    ...field('scheduleStart', row.schedule_start),
    ...field('scheduleEnd', row.schedule_end),
    ...field('callingWindows', row.calling_windows),
    ...(row.holidays.length > 0 && { holidays: row.holidays }),
    ...(row.tags.length > 0 && { tags: row.tags }),
    maxConcurrency: row.max_concurrency,
    retryPolicy: row.retry_policy,
    abandonedRetry: abandonedRetryOf(row),
    ...(row.voicemail_terms && { voicemail: row.voicemail_terms }),
    voicemailCounts: row.voicemail_counts,
    acceptedCount: row.total_contacts,
    rejectedCount,
    stats,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...field('pausedAt', row.paused_at?.toISOString() ?? null),
    ...field('resumedAt', row.resumed_at?.toISOString() ?? null),
    ...field('cancelledAt', cancelledAt?.toISOString() ?? null),
    ...metaOf(row),
  };
}
