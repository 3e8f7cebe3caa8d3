import { sql } from 'kysely';
import type { Database } from '../../src/database/database.ts';
import { type Given, seedRow } from './rows.ts';

/** A workspace of its own. Answers its UUID. */
export const seedWorkspace = async (database: Database, given?: Given<'workspaces'>): Promise<string> =>
  (await seedRow(database, 'workspaces', given)).id;

/** A number of the simulator's that can place calls. Answers its UUID. */
export const seedNumber = async (
  database: Database,
  workspaceId: string,
  phoneNumber: string,
  given?: Given<'phone_numbers'>,
): Promise<string> =>
  (await seedRow(database, 'phone_numbers', { workspace_id: workspaceId, phone_number: phoneNumber, ...given })).id;

/** Stops, or lets go on, all dialing of a workspace. */
export async function setKillSwitch(database: Database, workspaceId: string, at: Date | null): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`update workspaces set dialing_paused_at = ${at} where id = ${workspaceId}`.execute(db),
  );
}
