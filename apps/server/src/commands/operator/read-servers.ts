import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { LOCK_ID } from '../../foundation/database/migrate.ts';
import { TURN } from '../../platform/journal/hand-over.ts';

/** A server's row, as far as its operator wants to know. */
export interface ServerRow {
  id: string;
  version: string | null;
  status: 'ready' | 'draining' | 'lost' | 'stopped';
  started_at: Date;
  renewed_at: Date | null;
  lease_until: Date | null;
  /** The lines of its `/readyz`, and since when there are any. */
  warnings: string[];
  warned_at: Date | null;
}

/** The servers that have a row, the latest first. Leases are judged by the database's clock, as everywhere. */
export async function readServers({ db }: EngineTx): Promise<ServerRow[]> {
  const { rows } = await sql<ServerRow>`
    select id, version, started_at, renewed_at, nullif(lease_until, '-infinity') as lease_until, warnings, warned_at,
      case when lease_until = '-infinity' then 'stopped' when lease_until <= clock_timestamp() then 'lost'
        when draining then 'draining' else 'ready' end as status
    from servers order by started_at desc, id limit 100`.execute(db);
  return rows;
}

/** What is held of a kind. */
export interface LeaseRow {
  kind: 'calls' | 'workflow_runs' | 'webhooks' | 'trunk_registrations' | 'witness' | 'event_hand_over' | 'migration';
  server_id: string | null;
  count: number;
  since: Date | null;
  until: Date | null;
}

/** The lease of the server of a row, which holds what bears its ID. */
const leaseOf = sql`(select nullif(lease_until, '-infinity') from servers where id = server_id)`;

/** What servers hold, counted by kind. Calls and runs come from the indexes of those that are held. */
export async function readLeases({ db }: EngineTx): Promise<LeaseRow[]> {
  const { rows } = await sql<LeaseRow>`
    select kind, server_id, count, null::timestamptz as since, ${leaseOf} as until from (
      select x.kind, s.id as server_id, x.count
      from (select id from servers order by started_at desc, id limit 100) as s cross join lateral (values
        ('calls', (select count(*) from calls where server_id = s.id and ended_at is null)),
        ('workflow_runs', (select count(*) from workflow_runs where server_id = s.id))) as x (kind, count)
      union all select 'webhooks', server_id, count(*) from webhooks
        where server_id is not null and deleted_at is null group by server_id
      union all select 'witness', server_id, count(*) from witness_slots
        where server_id in (select id from servers) group by server_id) as held
    where count > 0
    union all select 'trunk_registrations', server_id, count(*), null, min(lease_until) from trunk_registrations
      where lease_until > '-infinity' group by server_id
    union all select case l.objid when ${sql.lit(TURN)} then 'event_hand_over' else 'migration' end, null, count(*),
        min(a.xact_start), null
      from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = 0
        and l.objid in (${sql.lit(TURN)}, ${sql.lit(LOCK_ID)})
        and l.database = (select oid from pg_database where datname = current_database())
      group by l.objid
    limit 1000`.execute(db);
  return rows;
}
