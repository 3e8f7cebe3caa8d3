import type { Database, EngineTx } from '../src/foundation/database/database.ts';
import { until } from './until.ts';

/**
 * Lets one act run into another: `hold` does the first half of what comes first, `act` begins, and once it waits for a
 * lock what comes first is committed. Answers what `act` comes to. Fails where nothing has to wait.
 */
export async function meanwhile<T>(
  database: Database,
  hold: (tx: EngineTx) => Promise<unknown>,
  act: () => PromiseLike<T>,
): Promise<T> {
  let acting: PromiseLike<T> | undefined;
  await database.inEngine(async (tx) => {
    await hold(tx);
    acting = act();
    await waitingForLock(database);
  });
  return acting!;
}

/** Waits until a transaction waits for a lock of another. */
export const waitingForLock = (database: Database) =>
  until(async () => {
    const { rows } = await database.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });
