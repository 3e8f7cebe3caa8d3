import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import { type Given, insertRows, seedRow } from './rows.ts';
import { type SeededNumber, withTrunks } from './trunk.ts';

/** A workspace of its own. Answers its UUID. */
export const seedWorkspace = async (database: Database, given?: Given<'workspaces'>): Promise<string> =>
  (await seedRow(database, 'workspaces', given)).id;

/** A number of the simulator's that can place calls. Answers its UUID. */
export const seedNumber = async (
  database: Database,
  workspaceId: string,
  phoneNumber: string,
  given?: SeededNumber,
): Promise<string> => {
  const number = { workspace_id: workspaceId, phone_number: phoneNumber, ...given };
  const [row] = await database.inEngine(async ({ db }) =>
    insertRows(db, 'phone_numbers', await withTrunks(db, [number])),
  );
  return row!.id;
};

/** Stops, or lets go on, all dialing of a workspace. */
export async function setKillSwitch(database: Database, workspaceId: string, at: Date | null): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`update workspaces set dialing_paused_at = ${at} where id = ${workspaceId}`.execute(db),
  );
}
