import { type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import { holdServer } from '../../foundation/database/lease.ts';
import { type LiveRow, liveColumns } from './call-row.ts';

/** The most calls that are taken over from a lost server at once. */
export const TAKE_OVER_SIZE = 500;
/** How far over its longest ring and talk a call is before its end is taken for lost. */
const OVERDUE_SECONDS = 30;

/** SQL, true for servers that have stopped, and gave their leases up. */
const isStopped = sql<boolean>`lease_until = '-infinity'`;
/** SQL: which servers without a lease are looked at. */
export const lostServers = { any: sql`true`, stopped: isStopped, only: (id: string) => sql`id = ${id}` };

/** Whether there is a server whose lease has ended, but for those that have stopped. */
export async function isAnyLost(database: Database, me: string): Promise<boolean> {
  const { rows } = await database.inEngine(({ db }) =>
    sql`select from servers where id <> ${me} and lease_until < clock_timestamp() and not ${isStopped} limit 1`.execute(
      db,
    ),
  );
  return rows.length > 0;
}

/**
 * Takes over calls of a server whose lease has ended, for the server `me`, unless that was given up itself meanwhile.
 * @param move tells, in the transaction that takes them, which calls `me` has now
 */
export function takeOverCalls(
  database: Database,
  me: string,
  log: Logger,
  from: RawBuilder<unknown> = lostServers.any,
  move?: (tx: EngineTx, roomIds: string[], serverId: string) => Promise<void>,
): Promise<LiveRow[]> {
  return database.inEngine(async (tx) => {
    if (!(await holdServer(tx, me))) return [];
    const dead = await sql<{ id: string; given_up: boolean }>`
      select id, ${isStopped} as given_up from servers
      where lease_until < clock_timestamp() and id <> ${me} and ${from}
      order by id limit 1 for update skip locked`.execute(tx.db);
    const [server] = dead.rows;
    if (!server) return [];
    const taken = await takeCalls(tx, server.id, me);
    const roomIds = taken.map(({ id }) => id);
    await move?.(tx, roomIds, me);
    if (taken.length < TAKE_OVER_SIZE) await sql`delete from servers where id = ${server.id}`.execute(tx.db);
    const note = { server: server.id, calls: taken.length };
    if (server.given_up) log.info(note, 'a server has stopped; its calls are followed from here');
    else log.warn(note, 'a server was lost; its calls are taken over');
    return taken;
  });
}

async function takeCalls(tx: EngineTx, from: string, to: string): Promise<LiveRow[]> {
  const { rows } = await sql<LiveRow>`
    update calls c set server_id = ${to}
    from phone_numbers n
    where n.workspace_id = c.workspace_id and n.id = c.phone_number_id
      and (c.workspace_id, c.id) in (select workspace_id, id from calls
        where server_id = ${from} and ended_at is null limit ${sql.lit(TAKE_OVER_SIZE)})
    returning ${liveColumns}`.execute(tx.db);
  return rows;
}

/** Calls of the server `me` whose end was lost on the way, and claims that a lost connection kept from it. */
export async function overdueCalls(database: Database, me: string, now: Date): Promise<LiveRow[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<LiveRow>`
      select ${liveColumns}
      from calls c join phone_numbers n on n.workspace_id = c.workspace_id and n.id = c.phone_number_id
      where c.server_id = ${me} and c.ended_at is null
        and coalesce(coalesce(c.dialed_at, c.ringing_at)
          + make_interval(secs => c.ring_timeout_seconds + c.max_call_seconds), c.place_before)
          + make_interval(secs => ${OVERDUE_SECONDS}) < ${now}
      limit 500`.execute(db),
  );
  return rows;
}
