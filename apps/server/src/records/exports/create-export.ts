import { findList } from '../../audience/contact-lists/store.ts';
import { findBatch } from '../../dialing/batches/store.ts';
import { fromE164 } from '../../dialing/calls/call.ts';
import { findCampaign } from '../../dialing/campaigns/store.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { takeIdempotencyKey } from '../../foundation/database/idempotency-keys.ts';
import { fromId, newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, notFound, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { isOwnNumber } from '../../lines/phone-numbers/own-number.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { type ExportDeps, exportQueue } from './deps.ts';
import { type ContactFilter, type ExportRow, MOST_KEPT, type Wanted } from './export.ts';
import { findExport, insertExport, keptFiles } from './store.ts';

/**
 * Asks for an export, which a job writes.
 * @returns the export, and whether it is that of an earlier request with the same idempotency key
 * @throws `not_found` for a list, campaign or batch that is not there; `limit_reached`, `idempotency_key_reused`
 */
export async function createExport(
  { database, jobs, clock }: ExportDeps,
  workspaceId: string,
  wanted: Wanted,
  idempotencyKey: string | undefined,
  auditOf: AuditOf,
): Promise<{ row: ExportRow; replayed: boolean }> {
  const [id, now] = [newUuid(), clock.now()];
  const named = { operation: 'createExport', key: idempotencyKey ?? '', request: wanted, resourceId: id, now };
  return database.inWorkspace(workspaceId, async (tx) => {
    const taken = idempotencyKey === undefined ? id : await takeIdempotencyKey(tx, named);
    if (taken !== id) return { row: await existing(findExport(tx, taken)), replayed: true };
    if (wanted.type === 'contacts') await checkSource(tx, wanted.filter, now);
    if (wanted.type === 'person' && (await isOwnNumber(tx, fromE164(wanted.filter.phoneNumber))))
      refuse([{ path: '/body/filter/phoneNumber', message: 'must not be, or have been, a number of your own' }]);
    await checkKept(tx, now);
    const row = await insertExport(tx, { ...wanted, id }, now);
    if (!row) {
      const message = 'Two exports of this workspace are under way. Wait until one of them is ready.';
      throw new ServiceError('limit_reached', message);
    }
    await jobs.enqueue(tx, exportQueue, { workspaceId, exportId: id });
    await audit(tx, auditOf('export.created', 'export', toId('exp', id)), now);
    return { row, replayed: false };
  });
}

async function checkKept(tx: WorkspaceTx, now: Date): Promise<void> {
  const { files, bytes, until } = await keptFiles(tx, now);
  if (files < MOST_KEPT.files && bytes < MOST_KEPT.bytes) return;
  const kept = files < MOST_KEPT.files ? `${MOST_KEPT.bytes / 2 ** 30} GiB of exports` : `${files} files of exports`;
  const message = `This workspace keeps ${kept}. Ask again after ${until.toISOString()}, when the first of them is deleted.`;
  throw new ServiceError('limit_reached', message);
}

async function checkSource(tx: WorkspaceTx, filter: ContactFilter, now: Date): Promise<void> {
  const { contactListId, campaignId, batchId } = filter;
  if (contactListId && !(await findList(tx, fromId(contactListId)))) throw notFound('/body/filter/contactListId');
  if (campaignId && !(await findCampaign(tx, fromId(campaignId)))) throw notFound('/body/filter/campaignId');
  if (batchId && !(await findBatch(tx, fromId(batchId), now))) throw notFound('/body/filter/batchId');
}
