import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { MOST_MEMBERS } from './pool.ts';

/** Phone numbers as a request names them. */
export interface NamedNumbers {
  /** Prefixed. */
  ids: readonly string[];
  /** Where they stand: `/body/phoneNumberIds`. */
  path: string;
}

/** Holds numbers until the transaction ends, so that none is released meanwhile. Throws `not_found` for an unknown one. */
export async function holdNumbers(tx: WorkspaceTx, { ids, path }: NamedNumbers): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select id from phone_numbers
    where workspace_id = ${tx.workspaceId} and id = any(${ids.map(fromId)}::uuid[]) and status <> 'released'
    order by id for share`.execute(tx.db);
  const known = new Set(rows.map((row) => row.id));
  const unknown = ids.findIndex((id) => !known.has(fromId(id)));
  if (unknown !== -1) throw notFound(`${path}/${unknown}`);
}

/**
 * Makes held numbers members of a locked pool; members stay. One statement decides of each, so that of two pools that
 * want it one gets it. Throws `number_in_other_pool`, and `limit_reached` where the pool is full.
 */
export async function addMembers(tx: WorkspaceTx, poolId: string, { ids, path }: NamedNumbers): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ phone_number_id: string }>`
    insert into number_usage (workspace_id, phone_number_id, pool_id, country)
    select workspace_id, id, ${poolId}, country from phone_numbers
    where workspace_id = ${tx.workspaceId} and id = any(${ids.map(fromId)}::uuid[]) order by id
    on conflict (workspace_id, phone_number_id) do update set pool_id = excluded.pool_id
      where number_usage.pool_id is null or number_usage.pool_id = excluded.pool_id
    returning phone_number_id`.execute(tx.db);
  const added = new Set(rows.map((row) => row.phone_number_id));
  const others = ids.filter((id) => !added.has(fromId(id)));
  if (others.length > 0) {
    const holders = await holdersOf(tx, others);
    const holderOf = (id: string) => (holders.has(fromId(id)) ? `the pool ${holders.get(fromId(id))}` : 'another pool');
    const details = ids.flatMap((id, at) =>
      added.has(fromId(id)) ? [] : [{ path: `${path}/${at}`, message: `is a member of ${holderOf(id)}` }],
    );
    const holder = holderOf(others[0]!);
    const message = `${holder[0]!.toUpperCase()}${holder.slice(1)} holds one of these numbers. Move it first.`;
    throw new ServiceError('number_in_other_pool', message, { details: details.slice(0, 100) });
  }
  await refuseOverfull(tx, poolId);
}

/** The pools that hold numbers, as clients name them, by the numbers' UUIDs. */
async function holdersOf(tx: WorkspaceTx, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; pool_id: string }>`
    select phone_number_id as id, pool_id from number_usage
    where workspace_id = ${tx.workspaceId} and phone_number_id = any(${ids.map(fromId)}::uuid[])
      and pool_id is not null`.execute(tx.db);
  return new Map(rows.map((row) => [row.id, toId('pool', row.pool_id)]));
}

/** Throws `limit_reached` if a locked pool has come to hold too many numbers. */
export async function refuseOverfull(tx: WorkspaceTx, poolId: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from number_usage
    where workspace_id = ${tx.workspaceId} and pool_id = ${poolId}`.execute(tx.db);
  if (rows[0]!.count <= MOST_MEMBERS) return;
  throw new ServiceError('limit_reached', `A pool has at most ${MOST_MEMBERS.toLocaleString('en')} members.`);
}

/** Takes numbers out of a locked pool: some of its members, or all but some. Others are left alone. */
export async function removeMembers(
  tx: WorkspaceTx,
  poolId: string,
  which: { ids: readonly string[] } | { butFor: readonly string[] },
): Promise<void> {
  const named =
    'ids' in which
      ? sql`phone_number_id = any(${which.ids.map(fromId)}::uuid[])`
      : sql`phone_number_id <> all(${which.butFor.map(fromId)}::uuid[])`;
  await sql`
    with leaving as (select phone_number_id from number_usage
      where workspace_id = ${tx.workspaceId} and pool_id = ${poolId} and ${named}
      order by phone_number_id for no key update)
    update number_usage u set pool_id = null from leaving
    where u.workspace_id = ${tx.workspaceId} and u.phone_number_id = leaving.phone_number_id`.execute(tx.db);
}
