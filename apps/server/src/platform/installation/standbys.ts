import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';

/**
 * What an operator should know of a database whose standbys may lack what it has committed; undefined where there is none,
 * or one that it waits for. A role that may not see how they follow is told by the setting alone.
 */
export async function standbyFault(database: Database): Promise<string | undefined> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ standbys: number; waits: boolean }>`
      select count(*) as standbys, coalesce(bool_or(coalesce(r.sync_state in ('sync', 'quorum'),
        current_setting('synchronous_standby_names') <> '')), false) as waits
      from pg_stat_replication r
      where coalesce(r.state, 'streaming') in ('streaming', 'catchup') and not exists (
        select from pg_replication_slots s where s.active_pid = r.pid and s.slot_type = 'logical')`.execute(db),
  );
  const { standbys, waits } = rows[0]!;
  if (standbys === 0 || waits) return undefined;
  return 'The database has a standby that it does not wait for: if that takes over, the last commits are lost, and dialing is held until confirm-restore. Set synchronous_standby_names so that it is synchronous.';
}
