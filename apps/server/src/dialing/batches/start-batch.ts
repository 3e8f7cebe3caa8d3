import { countryFaults } from '../../audience/contact-lists/check-country.ts';
import { properTimeZone } from '../../audience/contact-lists/reading/time-zone.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { findIdempotencyKey, takeIdempotencyKey } from '../../foundation/database/idempotency-keys.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { refuse } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { agentName, refuseFaults, settingsFaults, windowFaults } from '../campaigns/campaign-settings.ts';
import type { CampaignDeps } from '../campaigns/deps.ts';
import { acceptBatch } from './accept-batch.ts';
import { type BatchStarted, startedAgain } from './started-batch.ts';

export type BatchDeps = Pick<
  CampaignDeps,
  'database' | 'agents' | 'clock' | 'maxConcurrency' | 'providers' | 'operator' | 'isSimulated' | 'nudge' | 'guard'
>;

export interface BatchRequest {
  workspaceId: string;
  input: components['schemas']['StartBatch'];
  idempotencyKey: string | undefined;
  /** The audit entry of the key, given the batch's ID. */
  auditEntryOf: (batchId: string) => AuditEntry;
}

/** An answer to a request, and whether it is that of an earlier one with its idempotency key. */
interface Answered {
  started: BatchStarted;
  replayed: boolean;
}

/**
 * Starts a batch: those of its recipients that can be called are called, now or when it is scheduled. Throws
 * `invalid_request`, `not_found` for a number or pool that the workspace doesn't have, `campaign_not_startable` and
 * `idempotency_key_reused`; there is no batch then.
 */
export async function startBatch(
  { database, agents, clock, maxConcurrency, providers, operator, nudge }: BatchDeps,
  { workspaceId, input, idempotencyKey, auditEntryOf }: BatchRequest,
): Promise<Answered> {
  const settings = {
    timezone: properTimeZone(input.timezone ?? 'UTC'),
    schedule_start: input.scheduleStart ?? null,
    schedule_end: input.scheduleEnd ?? null,
    max_concurrency: input.maxConcurrency ?? Math.min(10, maxConcurrency),
    scheduled_at: input.scheduledAt === undefined ? null : new Date(input.scheduledAt),
    start_date: null,
    end_date: null,
  };
  refuseFaults([...settingsFaults(settings, maxConcurrency), ...windowFaults(input)]);
  refuse(countryFaults(input.defaultCountry, '/body/defaultCountry'));
  const [id, now] = [newUuid(), clock.now()];
  const named = idempotencyKey && { operation: 'startBatch', key: idempotencyKey, request: input, resourceId: id, now };
  if (named) {
    // Before the agent directory is asked: what was accepted once is answered again, whatever has changed.
    const earlier = await database.inWorkspace(workspaceId, async (tx) => {
      const batchId = await findIdempotencyKey(tx, named);
      return batchId && replay(tx, batchId);
    });
    if (earlier) return earlier;
  }
  const agent = await agentName(agents, input.agentId, workspaceId);
  const answered = await database.inWorkspace(workspaceId, async (tx): Promise<Answered> => {
    const batchId = named ? await takeIdempotencyKey(tx, named) : id;
    if (batchId !== id) return replay(tx, batchId);
    const order = { id, input, settings, agentName: agent, auditEntry: auditEntryOf(toId('bat', id)), now };
    return { started: await acceptBatch(tx, order, { providers, operator }), replayed: false };
  });
  if (!answered.replayed) nudge();
  return answered;
}

const replay = async (tx: WorkspaceTx, batchId: string): Promise<Answered> => ({
  started: await startedAgain(tx, batchId),
  replayed: true,
});
