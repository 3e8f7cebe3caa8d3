import { sql } from 'kysely';
import { insertBatchList } from '../../audience/contact-lists/insert-batch-list.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { Provider } from '../../lines/phone-numbers/phone-number.ts';
import { numbersNotCalled } from '../../platform/do-not-call/do-not-call-numbers.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { checkVoicemail } from '../../voices/sounds/check-voicemail.ts';
import { EVERY_DAY } from '../calls/calling-hours.ts';
import { callingArea, type DialTerms } from '../calls/may-dial.ts';
import { USUAL_CALL_SECONDS, USUAL_RING_SECONDS } from '../calls/usual-times.ts';
import { abandonedRetryHours, numberPoolId, phoneNumberId, type Settings } from '../campaigns/campaign-settings.ts';
import { checkCaller } from '../campaigns/check-startable.ts';
import { insertBatch } from '../campaigns/insert-batch.ts';
import { countriesOf } from '../campaigns/preview/preview-callers.ts';
import { judgeRecipients, numbersOf, type RecipientTerms, readRecipients } from './judge-recipients.ts';
import { type BatchStarted, firstStatus, shapeStarted } from './started-batch.ts';

/** Of a batch without a name. */
const LIST_NAME = 'Batch';

/** A batch that was checked as far as that goes without its workspace. */
export interface BatchOrder {
  /** The UUID that it gets. */
  id: string;
  input: components['schemas']['StartBatch'];
  settings: Settings;
  agentName: string;
  auditEntry: AuditEntry;
  now: Date;
}

/**
 * Writes a batch with those of its recipients that can be called. Throws `not_found` and `campaign_not_startable` for
 * the number or the pool that is to call.
 */
export async function acceptBatch(
  tx: WorkspaceTx,
  order: BatchOrder,
  { providers, operator }: { providers: readonly Provider[]; operator: OperatorLimits },
): Promise<BatchStarted> {
  const { id, input, settings, now } = order;
  await checkVoicemail(tx, input.voicemail);
  const caller = await callerOf(tx, input);
  const obstacle = await checkCaller(tx, caller, providers);
  if (obstacle) throw new ServiceError('campaign_not_startable', obstacle.message);

  const recipients = readRecipients(input.recipients, input.defaultCountry);
  const terms = await termsOf(tx, caller, numbersOf(recipients), operator);
  const { contacts, rejected } = judgeRecipients(recipients, terms);
  const batch = { id, scheduledAt: settings.scheduled_at, startedAt: now, contacts, rejected };
  const [name, status] = [input.name ?? '', firstStatus(batch)];

  const storageKey = `batches/${toId('bat', id)}`;
  const { defaultCountry } = input;
  await insertBatchList(tx, { id, name: name || LIST_NAME, storageKey, defaultCountry, entries: contacts, now });
  const campaign = {
    ...settings,
    id,
    name,
    agent_id: input.agentId,
    agent_name: order.agentName,
    phone_number_id: caller.phone_number_id,
    number_pool_id: caller.number_pool_id,
    status,
    schedule_days: [...EVERY_DAY],
    calling_windows: input.callingWindows ? JSON.stringify(input.callingWindows) : null,
    callee_time_zone: input.calleeTimeZone ?? ('strictest' as const),
    holidays: input.holidays?.toSorted() ?? [],
    retry_policy: input.retryPolicy ?? [],
    abandoned_retry_hours: abandonedRetryHours(input.abandonedRetry) ?? null,
    ring_timeout_seconds: USUAL_RING_SECONDS,
    max_call_seconds: USUAL_CALL_SECONDS,
    recording: input.recording ?? false,
    voicemail_terms: input.voicemail ? JSON.stringify(input.voicemail) : null,
    voicemail_counts: input.voicemailCounts ?? false,
    tags: input.tags ?? [],
    metadata: input.metadata ? JSON.stringify(input.metadata) : null,
    ...(status === 'running' && { started_at: now }),
    ...(status === 'failed' && { ended_at: now, failure_reason: 'no_callable_contacts' as const }),
  };
  await insertBatch(tx, campaign, { listId: id, contacts, now });
  await tx.db
    .insertInto('batches')
    .values({ workspace_id: tx.workspaceId, id, rejected: JSON.stringify(rejected), rejected_count: rejected.length })
    .execute();
  await audit(tx, order.auditEntry, now);
  return shapeStarted(batch);
}

async function callerOf(tx: WorkspaceTx, input: BatchOrder['input']) {
  const [fromNumber, poolId] = 'fromNumber' in input ? [input.fromNumber, null] : [null, input.numberPoolId];
  return {
    phone_number_id: fromNumber === null ? null : await phoneNumberId(tx, fromNumber),
    number_pool_id: poolId === null ? null : await numberPoolId(tx, poolId),
    from_number: fromNumber,
  };
}

/** Whom the workspace and its numbers don't call; the claim asks again. */
async function termsOf(
  tx: WorkspaceTx,
  caller: Awaited<ReturnType<typeof callerOf>>,
  numbers: number[],
  operator: OperatorLimits,
): Promise<RecipientTerms> {
  const [notCalled, { rows }] = await together(tx, [
    () => numbersNotCalled(tx, numbers),
    sql<Pick<DialTerms, 'allowed_countries' | 'allowed_outbound_countries' | 'premium_rate_allowed'>>`
      select w.allowed_countries, n.allowed_outbound_countries, w.premium_rate_allowed
      from workspaces w left join phone_numbers n on n.workspace_id = w.id and n.id = ${caller.phone_number_id}
      where w.id = ${tx.workspaceId}`,
  ]);
  const found = rows[0]!;
  const ofCaller =
    caller.number_pool_id === null ? found.allowed_outbound_countries : await countriesOf(tx, caller.number_pool_id);
  return { notCalled, area: callingArea({ ...found, operator }, ofCaller, caller.from_number) };
}
