import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import { toE164 } from '../calls/call.ts';
import type { BatchStatus } from './batch.ts';
import { type KeptRejection, shownRejection } from './judge-recipients.ts';

export type BatchStarted = components['schemas']['BatchStarted'];

/** A batch as it was when it was started. */
export interface StartedBatch {
  /** UUID. */
  id: string;
  scheduledAt: Date | null;
  startedAt: Date;
  /** In the order of the request. */
  contacts: readonly { id: string; toNumber: number; externalId: string | null }[];
  /** In the order of the request. */
  rejected: readonly KeptRejection[];
}

/** The status that a batch begins with. */
export function firstStatus({ scheduledAt, startedAt, contacts }: Omit<StartedBatch, 'id' | 'rejected'>): BatchStatus {
  if (contacts.length === 0) return 'failed';
  return scheduledAt !== null && scheduledAt > startedAt ? 'scheduled' : 'running';
}

/** What the one who starts a batch is told. Who is not among the rejected recipients was accepted. */
export function shapeStarted(batch: StartedBatch): BatchStarted {
  const { scheduledAt, rejected } = batch;
  const isRejected = new Set(rejected.map(({ index }) => index));
  let index = -1;
  const nextAccepted = () => {
    do index += 1;
    while (isRejected.has(index));
    return index;
  };
  return {
    batchId: toId('bat', batch.id),
    status: firstStatus(batch),
    ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }),
    acceptedRecipients: batch.contacts.map(({ id, toNumber, externalId }) => ({
      index: nextAccepted(),
      phoneNumber: toE164(toNumber),
      ...(externalId !== null && { externalId }),
      contactId: toId('cc', id),
    })),
    rejectedRecipients: rejected.map(shownRejection),
  };
}

/**
 * The same answer once more, from what is kept of it. IDs of contacts rise in the order of the request. Throws `not_found`
 * where the batch was deleted meanwhile.
 */
export async function startedAgain(tx: WorkspaceTx, id: string): Promise<BatchStarted> {
  const { workspaceId } = tx;
  const [batches, contacts] = await together(tx, [
    sql<{ scheduled_at: Date | null; created_at: Date; rejected: KeptRejection[] }>`
      select c.scheduled_at, c.created_at, b.rejected
      from campaigns c join batches b on b.workspace_id = c.workspace_id and b.id = c.id
      where c.workspace_id = ${workspaceId} and c.id = ${id}`,
    sql<{ id: string; phone_number: number; external_id: string | null }>`
      select id, phone_number, external_id from campaign_contacts
      where workspace_id = ${workspaceId} and campaign_id = ${id} order by id`,
  ]);
  const [batch] = batches.rows;
  if (!batch) throw notFound();
  return shapeStarted({
    id,
    scheduledAt: batch.scheduled_at,
    startedAt: batch.created_at,
    rejected: batch.rejected,
    contacts: contacts.rows.map((row) => ({
      id: row.id,
      toNumber: row.phone_number,
      externalId: row.external_id,
    })),
  });
}
