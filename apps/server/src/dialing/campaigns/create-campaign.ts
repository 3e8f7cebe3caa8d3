import { properTimeZone } from '../../audience/contact-lists/reading/time-zone.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { findIdempotencyKey, type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { checkVoicemail } from '../../voices/sounds/check-voicemail.ts';
import { EVERY_DAY } from '../calls/calling-hours.ts';
import { USUAL_CALL_SECONDS, USUAL_RING_SECONDS } from '../calls/usual-times.ts';
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
import type { CampaignDeps } from './deps.ts';
import { recordCampaignStatus } from './record-campaign.ts';
import type { CampaignRow } from './shape-campaign.ts';
import { findCampaign } from './store.ts';

type CreateCampaign = components['schemas']['CreateCampaign'];

const date = (text: string | null | undefined) => (typeof text === 'string' ? new Date(text) : null);

/**
 * Makes a draft, which calls nobody until it is started. Throws `not_found` for a list, number or pool that the
 * workspace doesn't have, `invalid_request` for what campaigns.md, "Campaigns", refuses, and `idempotency_key_reused`.
 * @param auditEntryOf the audit entry of the key, given the campaign's ID
 */
export async function createCampaign(
  { database, agents, clock, maxConcurrency }: CampaignDeps,
  workspaceId: string,
  input: CreateCampaign,
  auditEntryOf: (campaignId: string) => AuditEntry,
  idempotencyKey?: string,
): Promise<Made<CampaignRow>> {
  const settings = {
    timezone: properTimeZone(input.timezone ?? 'UTC'),
    schedule_start: input.scheduleStart ?? null,
    schedule_end: input.scheduleEnd ?? null,
    max_concurrency: input.maxConcurrency ?? Math.min(10, maxConcurrency),
    scheduled_at: date(input.scheduledAt),
    start_date: date(input.startDate),
    end_date: date(input.endDate),
  };
  refuseFaults([...settingsFaults(settings, maxConcurrency), ...windowFaults(input), ...listFaults(input.lists)]);
  const [id, now] = [newUuid(), clock.now()];
  const named = idempotencyKey
    ? { operation: 'createCampaign', key: idempotencyKey, request: input, resourceId: id, now }
    : undefined;
  const again = (tx: WorkspaceTx, made: string) => existing(findCampaign(tx, made));
  if (named) {
    // Before the agent directory is asked: what was made once is answered again, whatever has changed.
    const earlier = await database.inWorkspace(workspaceId, async (tx) => {
      const made = await findIdempotencyKey(tx, named);
      return made === undefined ? undefined : again(tx, made);
    });
    if (earlier) return { made: earlier, replayed: true };
  }
  const agent = await agentName(agents, input.agentId, workspaceId);
  return database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      await checkVoicemail(tx, input.voicemail);
      await tx.db
        .insertInto('campaigns')
        .values({
          ...settings,
          workspace_id: workspaceId,
          id,
          name: input.name,
          description: input.description ?? null,
          agent_id: input.agentId,
          agent_name: agent,
          direction: 'outbound',
          phone_number_id: 'fromNumber' in input ? await phoneNumberId(tx, input.fromNumber) : null,
          number_pool_id: 'fromNumber' in input ? null : await numberPoolId(tx, input.numberPoolId),
          status: 'draft',
          schedule_days: input.scheduleDays?.toSorted() ?? [...EVERY_DAY],
          calling_windows: input.callingWindows ? JSON.stringify(input.callingWindows) : null,
          callee_time_zone: input.calleeTimeZone ?? 'strictest',
          holidays: input.holidays?.toSorted() ?? [],
          calls_per_second: input.callsPerSecond ?? null,
          retry_policy: input.retryPolicy ?? [],
          abandoned_retry_hours: abandonedRetryHours(input.abandonedRetry) ?? null,
          target_call_count: input.targetCallCount ?? null,
          target_conversion_rate: input.targetConversionRate ?? null,
          ...budgetColumns(input.budget),
          ring_timeout_seconds: input.ringTimeoutSeconds ?? USUAL_RING_SECONDS,
          max_call_seconds: input.maxCallSeconds ?? USUAL_CALL_SECONDS,
          recording: input.recording ?? false,
          voicemail_terms: input.voicemail ? JSON.stringify(input.voicemail) : null,
          voicemail_counts: input.voicemailCounts ?? false,
          require_consent: input.requireConsent ?? false,
          tags: input.tags ?? [],
          created_at: now,
          updated_at: now,
        })
        .execute();
      await setLists(tx, id, input.lists);
      return recordCampaignStatus(tx, id, now, auditEntryOf(toId('cmp', id)));
    };
    return makeOnce(tx, named, make, (made) => again(tx, made));
  });
}
