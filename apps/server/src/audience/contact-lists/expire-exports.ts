import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';

/**
 * Ends the time of files with contacts of what is deleted now: nobody gets their URLs any more, and a sweep deletes them.
 * @param source what their exports were asked for with
 */
export async function expireExports(
  tx: WorkspaceTx,
  source: components['schemas']['ContactExportFilter'],
  now: Date,
): Promise<void> {
  await sql`
    update exports set expires_at = ${now}
    where workspace_id = ${tx.workspaceId} and type = 'contacts' and status = 'ready' and expires_at > ${now}
      and filter = ${JSON.stringify(source)}::jsonb`.execute(tx.db);
}
