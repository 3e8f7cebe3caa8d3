import { sql } from 'kysely';
import { NIL } from 'uuid';
import type { Database } from '../../foundation/database/database.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';

interface Placed {
  room_id: string;
  is_old: boolean;
}

/**
 * Has the simulated provider forget calls that it placed before a time, but for those that a server still asks it for: what
 * it has forgotten would be dialled again. In the order of their IDs, which is roughly that of their times. Servers may do
 * it at once.
 */
export async function forgetSimulatedCalls(database: Database, before: Date, signal?: AbortSignal): Promise<void> {
  let after: string = NIL;
  await inChunks(async () => {
    const rows = await nextPlaced(database, before, after);
    const old = rows.filter(({ is_old }) => is_old).map(({ room_id }) => room_id);
    if (old.length > 0)
      await database.inEngine(({ db }) =>
        sql`
          delete from simulator_calls where room_id = any(${old}::uuid[])
            and room_id not in (select id from calls where ended_at is null)`.execute(db),
      );
    after = rows.at(-1)?.room_id ?? after;
    return rows.length === MOST_AT_ONCE && old.length > 0;
  }, signal);
}

async function nextPlaced(database: Database, before: Date, after: string): Promise<Placed[]> {
  const { rows } = await database.inHotLoop(({ db }) =>
    sql<Placed>`
      select room_id, placed_at < ${before} as is_old from simulator_calls where room_id > ${after}
      order by room_id limit ${sql.lit(MOST_AT_ONCE)}`.execute(db),
  );
  return rows;
}
