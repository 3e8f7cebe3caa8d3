import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';

/** Takes a released number out of its pool. Who releases it holds the pool. */
export async function leavePool(tx: WorkspaceTx, phoneNumberId: string): Promise<void> {
  await sql`
    update number_usage set pool_id = null
    where workspace_id = ${tx.workspaceId} and phone_number_id = ${phoneNumberId} and pool_id is not null`.execute(
    tx.db,
  );
}
