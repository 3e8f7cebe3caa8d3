import type { Kysely } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import type { Schema } from '../../src/foundation/database/schema.ts';
import { type Given, insertRows } from './rows.ts';

/** A number, and the trunk that is made with it where one is given. */
export type SeededNumber = Given<'phone_numbers'> & { trunk?: Given<'trunks'> };

/** The rows of numbers, their trunks written. */
export async function withTrunks(db: Kysely<Schema>, numbers: SeededNumber[]): Promise<Given<'phone_numbers'>[]> {
  const rows: Given<'phone_numbers'>[] = [];
  for (const { trunk, ...number } of numbers) {
    if (!trunk) rows.push(number);
    else rows.push({ ...number, provider: 'sip', trunk_id: await insertTrunk(db, number.workspace_id!, trunk) });
  }
  return rows;
}

async function insertTrunk(db: Kysely<Schema>, workspaceId: string, given: Given<'trunks'>): Promise<string> {
  const [trunk] = await insertRows(db, 'trunks', [{ workspace_id: workspaceId, ...given }]);
  await insertRows(db, 'trunk_health', [{ workspace_id: workspaceId, trunk_id: trunk!.id }]);
  return trunk!.id;
}

/** A trunk that calls go over as fast as anybody likes. Answers its UUID. */
export const seedTrunk = (database: Database, workspaceId: string, given: Given<'trunks'> = {}): Promise<string> =>
  database.inEngine(({ db }) => insertTrunk(db, workspaceId, given));
