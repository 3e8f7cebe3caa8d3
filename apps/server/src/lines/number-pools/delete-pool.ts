import { type SqlBool, sql } from 'kysely';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { detailsOfUse } from '../../platform/workspace/details-of-use.ts';
import type { NumberPoolDeps } from './deps.ts';
import { removeMembers } from './members.ts';
import { lockPools } from './store.ts';

/**
 * Deletes a pool; its numbers stay, in no pool. A draft that names it can't be started any more. Throws `not_found`, and
 * `pool_in_use` while an active campaign or a call that waits uses it: one that starts now has committed, or waits and finds no pool.
 */
export async function deletePool(
  { database, clock }: NumberPoolDeps,
  workspaceId: string,
  id: string,
  auditEntry: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    if (!(await lockPools(tx, [id])).has(id)) throw notFound();
    const campaign = await tx.db
      .selectFrom('campaigns')
      .select(['name', 'kind'])
      .where('workspace_id', '=', workspaceId)
      .where('number_pool_id', '=', id)
      .where(sql<SqlBool>`status in ('scheduled', 'running', 'paused')`)
      .limit(1)
      .executeTakeFirst();
    if (campaign) {
      const message =
        campaign.kind === 'batch'
          ? 'A batch uses this pool. Cancel it first.'
          : `The campaign "${campaign.name}" uses this pool. Stop it first, or change its numbers.`;
      throw new ServiceError('pool_in_use', message, { details: await detailsOfUse(tx, 'number_pool_id', id) });
    }
    const call = await tx.db
      .selectFrom('call_intents')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('number_pool_id', '=', id)
      .where('next_attempt_at', 'is not', null)
      .limit(1)
      .executeTakeFirst();
    if (call) {
      const message = `The call ${toId('room', call.id)} waits for a number of this pool. End it first.`;
      throw new ServiceError('pool_in_use', message, { details: await detailsOfUse(tx, 'number_pool_id', id) });
    }
    await removeMembers(tx, id, { butFor: [] });
    await tx.db.deleteFrom('number_pools').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
    await audit(tx, auditEntry, clock.now());
  });
}
