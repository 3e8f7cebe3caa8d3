import { sql, type Updateable } from 'kysely';
import { properTimeZone } from '../../audience/contact-lists/reading/time-zone.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { type ErrorDetail, existing, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { checkVoicemail } from '../../voices/sounds/check-voicemail.ts';
import { EVERY_DAY } from '../calls/calling-hours.ts';
import {
  abandonedRetryHours,
  agentName,
  budgetColumns,
  listFaults,
  numberPoolId,
  phoneNumberId,
  refuseFaults,
  setLists,
  settingsFaults,
  windowFaults,
} from './campaign-settings.ts';
import { changeHoursOfCampaign } from './change-hours.ts';
import { checkPeople } from './check-startable.ts';
import type { CampaignDeps } from './deps.ts';
import { type CampaignRow, startsAt } from './shape-campaign.ts';
import { findCampaign, lockCampaign } from './store.ts';

type UpdateCampaign = components['schemas']['UpdateCampaign'];
type Change = Updateable<Schema['campaigns']>;

/** What stands once the contacts were taken from the lists. */
const setBeforeStart = ['lists', 'scheduledAt', 'startDate', 'requireConsent'] as const;
/** What decides when contacts may be called. */
const hours = ['schedule_start', 'schedule_end', 'schedule_days', 'calling_windows', 'holidays', 'timezone'] as const;

type Sent<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
/** Only what was sent. */
const sent = <T extends object>(values: T): Sent<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Sent<T>;
const date = (text: string | null | undefined) => (typeof text === 'string' ? new Date(text) : text);

/**
 * Changes a draft, a scheduled or a paused campaign; calls that are up go on as they began. Throws `not_found`,
 * `changed_meanwhile`, `invalid_request`, `invalid_state` for a campaign, or a field of it, that can't be changed any more, and
 * `campaign_not_startable` for a scheduled one that could not start so.
 */
export async function updateCampaign(
  deps: CampaignDeps,
  workspaceId: string,
  campaignId: string,
  input: UpdateCampaign,
  auditEntry: AuditEntry,
  ifMatch?: string,
): Promise<CampaignRow> {
  const { database, clock, maxConcurrency } = deps;
  if (input.fromNumber !== undefined && input.numberPoolId !== undefined) {
    const message = 'Set fromNumber or numberPoolId, not both.';
    refuseFaults([{ path: '/body/numberPoolId', message }]);
  }
  refuseFaults([...listFaults(input.lists ?? []), ...windowFaults(input)]);
  const now = clock.now();
  const agent = input.agentId && (await nameIfCampaignExists(deps, workspaceId, campaignId, input.agentId));
  return database.inWorkspace(workspaceId, async (tx) => {
    const campaign = await existing(lockCampaign(tx, campaignId));
    checkEdition(campaign, ifMatch);
    refuseUnchangeable(campaign, input);
    const change: Change = { ...settingsChange(input), ...(agent !== undefined && { agent_name: agent }) };
    const wanted = { ...campaign, ...change } as CampaignRow;
    refuseFaults(settingsFaults(wanted, maxConcurrency));
    if (campaign.status === 'scheduled') refuseFaults(startFaults(input, wanted, now));
    await checkVoicemail(tx, input.voicemail);
    if (input.numberPoolId !== undefined) {
      change.number_pool_id = await numberPoolId(tx, input.numberPoolId);
      change.phone_number_id = null;
    }
    if (input.fromNumber !== undefined) {
      change.phone_number_id = await phoneNumberId(tx, input.fromNumber);
      change.number_pool_id = null;
    }
    await tx.db
      .updateTable('campaigns')
      .set({
        ...change,
        updated_at: now,
        revision: sql`revision + 1`,
        edition: sql`edition + 1`,
        next_claim_at: sql`'epoch'`,
      })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', campaignId)
      .execute();
    if (input.lists) await setLists(tx, campaignId, input.lists);
    const newZones = (change.callee_time_zone ?? campaign.callee_time_zone) !== campaign.callee_time_zone;
    if (campaign.status === 'paused' && (newZones || hours.some((name) => change[name] !== undefined))) {
      await changeHoursOfCampaign(tx, campaignId, { newZones });
    }
    const after = (await findCampaign(tx, campaignId))!;
    const obstacle = campaign.status === 'scheduled' && (await checkPeople(tx, after, deps.providers));
    if (obstacle) throw new ServiceError('campaign_not_startable', obstacle.message);
    tx.tell(campaignId);
    await audit(tx, auditEntry, now);
    return after;
  });
}

/** The directory is asked outside the transaction; a campaign that isn't there is no reason to ask it. */
async function nameIfCampaignExists(
  { database, agents }: CampaignDeps,
  workspaceId: string,
  campaignId: string,
  agentId: string,
): Promise<string> {
  if (!(await database.inWorkspace(workspaceId, (tx) => findCampaign(tx, campaignId)))) throw notFound();
  return agentName(agents, agentId, workspaceId);
}

function refuseUnchangeable({ status, redial_of }: CampaignRow, input: UpdateCampaign): void {
  if (redial_of !== null && input.lists)
    throw new ServiceError('invalid_state', 'The lists of a redial stand: its contacts were chosen when it was made.');
  if (status === 'draft' || status === 'scheduled') return;
  if (status !== 'paused') {
    const message = `Only a draft, a scheduled or a paused campaign can be changed; this one is ${status}.`;
    throw new ServiceError('invalid_state', message);
  }
  const fixed = setBeforeStart.filter((name) => input[name] !== undefined);
  if (fixed.length === 0) return;
  throw new ServiceError(
    'invalid_state',
    `${fixed.join(', ')} can be changed until a campaign has started; this one is paused.`,
  );
}

/** A change of the time at which a scheduled campaign begins must not have it begin at once. */
function startFaults({ scheduledAt, startDate }: UpdateCampaign, wanted: CampaignRow, now: Date): ErrorDetail[] {
  if ((scheduledAt === undefined && startDate === undefined) || startsAt(wanted) > now) return [];
  const message =
    'A scheduled campaign needs a scheduledAt or a startDate that lies ahead. Unschedule it to start it at another time.';
  return [{ path: scheduledAt === undefined ? '/body/startDate' : '/body/scheduledAt', message }];
}

const settingsChange = (input: UpdateCampaign) =>
  sent({
    name: input.name,
    description: input.description,
    agent_id: input.agentId,
    timezone: input.timezone && properTimeZone(input.timezone),
    callee_time_zone: input.calleeTimeZone,
    scheduled_at: date(input.scheduledAt),
    start_date: date(input.startDate),
    end_date: date(input.endDate),
    ...scheduleChange(input),
    holidays: input.holidays?.toSorted(),
    max_concurrency: input.maxConcurrency,
    calls_per_second: input.callsPerSecond,
    retry_policy: input.retryPolicy,
    abandoned_retry_hours: abandonedRetryHours(input.abandonedRetry),
    target_call_count: input.targetCallCount,
    target_conversion_rate: input.targetConversionRate,
    ...budgetColumns(input.budget),
    ring_timeout_seconds: input.ringTimeoutSeconds,
    max_call_seconds: input.maxCallSeconds,
    recording: input.recording,
    voicemail_terms: input.voicemail && JSON.stringify(input.voicemail),
    voicemail_counts: input.voicemailCounts,
    require_consent: input.requireConsent,
    tags: input.tags,
  });

/** Windows take the place of their short form, and that takes theirs. */
function scheduleChange({ callingWindows, scheduleStart, scheduleEnd, scheduleDays }: UpdateCampaign) {
  if (callingWindows) {
    const calling_windows = JSON.stringify(callingWindows);
    return { schedule_start: null, schedule_end: null, schedule_days: [...EVERY_DAY], calling_windows };
  }
  const isShort = [scheduleStart, scheduleEnd, scheduleDays].some((value) => value !== undefined && value !== null);
  return {
    schedule_start: scheduleStart,
    schedule_end: scheduleEnd,
    schedule_days: scheduleDays === null ? [...EVERY_DAY] : scheduleDays?.toSorted(),
    calling_windows: isShort ? null : callingWindows,
  };
}
