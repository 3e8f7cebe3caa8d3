import { sql } from 'kysely';
import { toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { TrunkDeps } from './deps.ts';
import { lockTrunk } from './store.ts';

/** Forgets a trunk. Throws `not_found`, and `trunk_in_use` while a number calls over it or a call is up. */
export async function deleteTrunk(
  { database, clock }: TrunkDeps,
  workspaceId: string,
  id: string,
  auditOf: AuditOf,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    await existing(lockTrunk(tx, id));
    const { rows } = await sql<{ phone_number: string }>`
      select phone_number from phone_numbers
      where workspace_id = ${workspaceId} and trunk_id = ${id} and status <> 'released'
      order by phone_number limit 1001`.execute(tx.db);
    if (rows.length > 0) throw new ServiceError('trunk_in_use', usedBy(rows[0]!.phone_number, rows.length - 1));
    const live = await sql`
      select from calls where trunk_id = ${id} and workspace_id = ${workspaceId} and ended_at is null limit 1`.execute(
      tx.db,
    );
    if (live.rows.length > 0) {
      throw new ServiceError('trunk_in_use', 'A call over this trunk is up. Wait until it has ended, or end it.');
    }
    await sql`
      update phone_numbers set trunk_id = null where workspace_id = ${workspaceId} and trunk_id = ${id}`.execute(tx.db);
    await tx.db.deleteFrom('trunks').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
    await audit(tx, auditOf('trunk.deleted', 'trunk', toId('trk', id)), clock.now());
  });
}

function usedBy(first: string, others: number): string {
  const more = others === 0 ? ' uses' : others === 1 ? ' and one more use' : ` and ${others} more use`;
  return `The number ${first}${more} this trunk. Give ${others === 0 ? 'it' : 'them'} another one first.`;
}
