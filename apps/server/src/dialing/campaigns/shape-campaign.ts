import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type Campaign = components['schemas']['Campaign'];

/** A campaign's row with what its answers also show. */
export interface CampaignRow extends Row<'campaigns'> {
  /** E.164; null where a pool calls. */
  from_number: string | null;
  lists: { id: string; role: 'contacts' | 'dnd' }[];
}

/** A value under its name, or nothing: a field without a value is left out of answers. */
const field = <K extends string, V>(name: K, value: V | null) =>
  (value === null ? {} : { [name]: value }) as { [P in K]?: V };
const time = <K extends string>(name: K, at: Date | null) => field(name, at ? at.toISOString() : null);

/** When a campaign begins to call: the later of `scheduledAt` and `startDate`. */
export const startsAt = ({ scheduled_at, start_date }: Pick<CampaignRow, 'scheduled_at' | 'start_date'>): Date =>
  new Date(Math.max(scheduled_at?.getTime() ?? 0, start_date?.getTime() ?? 0));

/** What else is known of a campaign: why it failed, or has paused itself. */
export function metaOf({ status, failure_reason, pause_reason }: CampaignRow): Pick<Campaign, 'meta'> {
  if (failure_reason) return { meta: { failure: { reason: failure_reason } } };
  return status === 'paused' && pause_reason ? { meta: { pause: { reason: pause_reason } } } : {};
}

/** Whether and when it calls again who answered and found no agent. */
export const abandonedRetryOf = ({
  abandoned_retry_hours: afterHours,
}: CampaignRow): NonNullable<Campaign['abandonedRetry']> => (afterHours === null ? 'none' : { afterHours });

/** What it may spend; null if that has no bound. */
const budgetOf = ({ budget_calls, budget_minutes }: CampaignRow): NonNullable<Campaign['budget']> | null =>
  budget_calls === null && budget_minutes === null
    ? null
    : { ...field('maxCalls', budget_calls), ...field('maxMinutes', budget_minutes) };

/** A campaign as clients see it. */
export function shapeCampaign(row: CampaignRow): Campaign {
  return {
    id: toId('cmp', row.id),
    name: row.name,
    ...field('description', row.description),
    agentId: row.agent_id,
    direction: row.direction,
    ...field('fromNumber', row.from_number),
    ...field('numberPoolId', row.number_pool_id && toId('pool', row.number_pool_id)),
    status: row.status,
    timezone: row.timezone,
    calleeTimeZone: row.callee_time_zone,
    lists: row.lists.map(({ id, role }) => ({ id: toId('list', id), role })),
    maxConcurrency: row.max_concurrency,
    ...field('callsPerSecond', row.calls_per_second),
    retryPolicy: row.retry_policy,
    abandonedRetry: abandonedRetryOf(row),
    ringTimeoutSeconds: row.ring_timeout_seconds,
    maxCallSeconds: row.max_call_seconds,
    recording: row.recording,
    ...field('voicemail', row.voicemail_terms),
    voicemailCounts: row.voicemail_counts,
    requireConsent: row.require_consent,
    ...(row.tags.length > 0 && { tags: row.tags }),
    ...field('scheduleStart', row.schedule_start),
    ...field('scheduleEnd', row.schedule_end),
    ...(row.schedule_days.length < 7 && { scheduleDays: row.schedule_days }),
    ...field('callingWindows', row.calling_windows),
    ...(row.holidays.length > 0 && { holidays: row.holidays }),
    totalContacts: row.total_contacts,
    ...field('targetCallCount', row.target_call_count),
    ...field('targetConversionRate', row.target_conversion_rate),
    ...field('budget', budgetOf(row)),
    ...time('scheduledAt', row.scheduled_at),
    ...time('startDate', row.start_date),
    ...time('endDate', row.end_date),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...time('pausedAt', row.paused_at),
    ...time('resumedAt', row.resumed_at),
    ...time('stoppedAt', row.stopped_at),
    ...time('cancelledAt', row.cancelled_at),
    ...field('redialOf', row.redial_of && toId('cmp', row.redial_of)),
    ...metaOf(row),
  };
}
