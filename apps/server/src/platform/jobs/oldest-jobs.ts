import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';

/**
 * For how long the first job of each queue of background work has been due, in seconds. The time is the queue's own, which
 * is the database's.
 */
export async function oldestJobs({ db }: EngineTx): Promise<{ queue: string; seconds: number }[]> {
  const { rows } = await sql<{ queue: string; seconds: number }>`
    select q.name as queue, coalesce(extract(epoch from clock_timestamp() - j.start_after), 0)::float8 as seconds
    from pgboss.queue q left join lateral (
      select start_after from pgboss.job
      where name = q.name and state < 'active' and not blocked and start_after <= clock_timestamp()
      order by priority desc, created_on limit 1) as j on true
    where q.name not like '\\_\\_%'`.execute(db);
  return rows;
}
