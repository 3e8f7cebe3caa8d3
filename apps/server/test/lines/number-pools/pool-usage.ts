import { sql } from 'kysely';
import type { Database } from '../../../src/foundation/database/database.ts';

/** What is counted of a pool's numbers, by their UUID. */
export async function usageOf(database: Database, memberIds: string[]) {
  const rows = await database.inEngine(({ db }) =>
    db.selectFrom('number_usage').selectAll().where('phone_number_id', 'in', memberIds).execute(),
  );
  const byId = new Map(rows.map((row) => [row.phone_number_id, row]));
  return memberIds.map((id) => byId.get(id)!);
}

/** Every call of a workspace with the number that it came from, in the order of dialing. */
export async function callsFrom(database: Database, workspaceId: string) {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{
      phone_number_id: string;
      from_number: number;
      to_number: number;
      owner_id: string;
      attempt: number;
      outcome: string | null;
      pooled: boolean;
      dialed_at: Date | null;
      ended_at: Date | null;
    }>`select * from calls where workspace_id = ${workspaceId} order by dialed_at, id`.execute(db),
  );
  return rows;
}
