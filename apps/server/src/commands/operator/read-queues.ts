import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';

/** So many are counted. */
export const MOST_COUNTED = 10_000;
/** One more shows that there are more. */
const most = sql.lit(MOST_COUNTED + 1);

/** What waits in a queue. */
export interface QueueRow {
  name: string;
  waiting: number;
  /** Of background work: those of them that have failed before, and those that were given up and are not forgotten yet. */
  retrying: number | null;
  failed: number | null;
}

/** How much of what calls and tells is due, counted from heads of indexes. */
export async function readDue({ db }: EngineTx, now: Date): Promise<QueueRow[]> {
  const { rows } = await sql<QueueRow>`
    select name, waiting, null as retrying, null as failed from (values
      ('calls', (select count(*) from (select from call_intents where next_attempt_at <= ${now} limit ${most}) as x)),
      ('campaigns', (select count(*) from (select from campaigns c join workspaces w on w.id = c.workspace_id
        where c.status = 'running' and c.next_claim_at <= ${now} and w.dialing_paused_at is null limit ${most}) as x)),
      ('workflow_runs', (select count(*) from (select from workflow_runs where due_at <= ${now} limit ${most}) as x)),
      ('webhook_deliveries', (select count(*) from (select from webhooks w cross join lateral (
        select from webhook_deliveries where workspace_id = w.workspace_id and webhook_id = w.id and status = 'pending'
        limit ${most}) as d where w.deleted_at is null limit ${most}) as x)),
      ('events', (select count(*) from (select from events_to_hand_over limit ${most}) as x))) as q (name, waiting)`.execute(
    db,
  );
  return rows;
}

/** The same of background work, with what has failed of it. */
export async function readBackground({ db }: EngineTx): Promise<QueueRow[]> {
  const { rows } = await sql<QueueRow>`
    select q.name, w.waiting, w.retrying, f.failed
    from (select name from pgboss.queue where name not like '\\_\\_%' order by name limit 90) as q
    cross join lateral (select count(*) as waiting, count(*) filter (where retry_count > 0) as retrying from (
      select retry_count from pgboss.job where name = q.name and state < 'active' and not blocked limit ${most}) as x) as w
    cross join lateral (select count(*) as failed from (
      select from pgboss.job where name = q.name and state = 'failed' limit ${sql.lit(MOST_COUNTED)}) as x) as f`.execute(
    db,
  );
  return rows;
}
