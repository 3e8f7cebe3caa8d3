import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';

/** Whether a number is, or was, one of the workspace's: what is kept about it is about all who were called from it. @param number E.164 without the plus */
export async function isOwnNumber(tx: WorkspaceTx, number: number): Promise<boolean> {
  const { rows } = await sql`
    select from phone_numbers where workspace_id = ${tx.workspaceId} and phone_number = ${`+${number}`} limit 1`.execute(
    tx.db,
  );
  return rows.length > 0;
}
