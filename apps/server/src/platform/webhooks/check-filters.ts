import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { notFound } from '../../foundation/values/service-error.ts';

/** Throws `not_found` for the first campaign or batch of an endpoint's that the workspace doesn't have. */
export async function checkFilters(
  tx: WorkspaceTx,
  { campaignIds, batchIds }: components['schemas']['UpdateWebhook'],
): Promise<void> {
  await checkThere(tx, 'campaign', campaignIds ?? [], '/body/campaignIds');
  await checkThere(tx, 'batch', batchIds ?? [], '/body/batchIds');
}

async function checkThere(tx: WorkspaceTx, kind: 'campaign' | 'batch', ids: readonly string[], path: string) {
  if (ids.length === 0) return;
  const rows = await tx.db
    .selectFrom('campaigns')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('kind', '=', kind)
    .where('id', 'in', ids.map(fromId))
    .execute();
  const there = new Set(rows.map(({ id }) => id));
  const missing = ids.findIndex((id) => !there.has(fromId(id)));
  if (missing !== -1) throw notFound(`${path}/${missing}`);
}
