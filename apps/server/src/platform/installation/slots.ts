import { type RawBuilder, sql } from 'kysely';
import type { EngineTx, Tx } from '../../foundation/database/database.ts';

/** The number of each slot. */
export async function readNumbers({ db }: Tx): Promise<Map<number, number>> {
  const { rows } = await sql<{ slot: number; number: number }>`
    select slot, number from witness_slots order by slot`.execute(db);
  return new Map(rows.map((row) => [row.slot, row.number]));
}

/**
 * Takes a slot whose server's lease has ended, or makes the next one.
 * @returns undefined where another server was faster: to be asked again
 */
export async function takeSlot({ db }: EngineTx, serverId: string): Promise<number | undefined> {
  const free = await sql<{ slot: number }>`
    update witness_slots set server_id = ${serverId},
      unwritten_since = case when server_id = ${serverId} then unwritten_since end
    where slot = (select slot from witness_slots s where server_id = ${serverId} or not exists (select from servers v
      where v.id = s.server_id and v.lease_until > clock_timestamp())
      order by server_id <> ${serverId}, slot limit 1 for update skip locked)
    returning slot`.execute(db);
  if (free.rows[0]) return free.rows[0].slot;
  const next = await sql<{ slot: number }>`
    insert into witness_slots (slot, server_id) select coalesce(max(slot), 0) + 1, ${serverId}::uuid from witness_slots
    on conflict do nothing returning slot`.execute(db);
  return next.rows[0]?.slot;
}

/**
 * Raises the number of a server's slot. Answers undefined, which must undo the transaction, where the database has lost
 * what this process knows, where dialing is held, and where the slot is another server's now.
 */
export async function raiseNumber(
  { db }: EngineTx,
  { slot, serverId, known }: { slot: number; serverId: string; known: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ number: number }>`
    update witness_slots set number = number + 1 where slot = ${slot} and server_id = ${serverId} and number >= ${known}
      and exists (select from installation where held_at is null)
    returning number`.execute(db);
  return rows[0]?.number;
}

/** Notes since when a server's witness can't be written, or that it can. */
export async function markUnwritten({ db }: EngineTx, serverId: string, since: Date | null): Promise<void> {
  await sql`update witness_slots set unwritten_since = ${since} where server_id = ${serverId}`.execute(db);
}

/** No server raises its number as often while it lives. */
const PAST_ALL_SEEN = 1_000_000_000;

/** Raises the numbers of all slots past what is known of them, and past what servers that run may have seen. */
export async function raisePast({ db }: EngineTx, newest: ReadonlyMap<number, number>): Promise<void> {
  await sql`
    insert into witness_slots (slot, server_id, number)
    select slot, '00000000-0000-0000-0000-000000000000', number
    from unnest(${[...newest.keys()]}::smallint[], ${[...newest.values()]}::bigint[]) as x (slot, number)
    on conflict (slot) do update set number = greatest(witness_slots.number, excluded.number)`.execute(db);
  await sql`update witness_slots set number = number + ${PAST_ALL_SEEN}`.execute(db);
}

/** SQL: whether a server's own witness can't be written. */
export const isUnwritten = (serverId: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select from witness_slots where server_id = ${serverId} and unwritten_since is not null)`;

/** SQL: whether there is a server whose witness can't be written, and none whose can. */
export const areAllUnwritten = sql<boolean>`(select coalesce(bool_and(s.unwritten_since is not null), false)
  from servers v join witness_slots s on s.server_id = v.id where v.lease_until > clock_timestamp())`;
