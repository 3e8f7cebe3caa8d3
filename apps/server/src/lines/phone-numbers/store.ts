import { type SqlBool, sql, type Updateable } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import type { DueTime } from '../../platform/jobs/quiet.ts';
import type { ProviderNumber } from '../telephony/number-market.ts';
import type { PhoneNumberDeps } from './deps.ts';
import {
  joinTrunk,
  type PhoneNumberRow,
  type PhoneNumberStatus,
  phoneNumberTransitions,
  trunkColumns,
} from './phone-number.ts';

/** A number that was not released, by its UUID. */
export function findNumber(tx: WorkspaceTx, id: string): Promise<PhoneNumberRow | undefined> {
  return numbersOf(tx).where('n.id', '=', id).where(isNotReleased).executeTakeFirst();
}

/** A number in whichever status, locked for a change. */
export function lockNumber(tx: WorkspaceTx, id: string): Promise<PhoneNumberRow | undefined> {
  return numbersOf(tx).where('n.id', '=', id).forUpdate('n').executeTakeFirst();
}

/** A number in whichever status. */
export function readNumber(tx: WorkspaceTx, id: string): Promise<PhoneNumberRow | undefined> {
  return numbersOf(tx).where('n.id', '=', id).executeTakeFirst();
}

/** Numbers in whichever status. */
export async function readNumbers(tx: WorkspaceTx, ids: string[]): Promise<PhoneNumberRow[]> {
  return ids.length === 0 ? [] : numbersOf(tx).where('n.id', 'in', ids).execute();
}

/** Changes a number that the transaction holds, and answers the whole of it. */
export async function changeNumber(
  tx: WorkspaceTx,
  id: string,
  changes: Updateable<Schema['phone_numbers']>,
): Promise<PhoneNumberRow> {
  await tx.db
    .updateTable('phone_numbers')
    .set(changes)
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .execute();
  return (await readNumber(tx, id))!;
}

/**
 * Moves a number that the transaction holds to another status, and answers the whole of it. Throws where the state table
 * knows no such move.
 */
export async function moveNumber(
  tx: WorkspaceTx,
  { id }: Pick<PhoneNumberRow, 'id'>,
  status: PhoneNumberStatus,
  changes: Updateable<Schema['phone_numbers']>,
): Promise<PhoneNumberRow> {
  await tx.db
    .updateTable('phone_numbers')
    .set({ ...changes, status })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<SqlBool>`status in ${from(phoneNumberTransitions, status)}`)
    .returning('id')
    .executeTakeFirstOrThrow();
  return (await readNumber(tx, id))!;
}

/** One page of numbers that are not released, and how many there are on all pages. */
export const listNumbers = (
  tx: WorkspaceTx,
  page: PageQuery & { column: 'phone_number' | 'created_at' },
): Promise<Page<PhoneNumberRow>> =>
  readPage(tx, page, {
    columns: sql`n.*, ${trunkColumns}`,
    from: sql`phone_numbers n ${joinTrunk}`,
    where: [sql`n.workspace_id = ${tx.workspaceId}`, isNotReleased],
    search: ['n.phone_number', 'n.friendly_name', 'n.label'],
    order: [`n.${page.column}`, 'n.id'],
  });

/**
 * Whether a number's provider has sold it to another of our reservations or workspaces. What it has sold under another name
 * of its own is another purchase, perhaps of another account.
 */
export async function isHeldElsewhere(tx: EngineTx, row: PhoneNumberRow): Promise<boolean> {
  const { rows } = await sql`
    select from phone_numbers where phone_number = ${row.phone_number} and provider = ${row.provider}
      and coalesce(provider_number_id = ${row.provider_number_id}::text, true)
      and status in ('active', 'suspended') and id <> ${row.id}`.execute(tx.db);
  return rows.length > 0;
}

/** Frees numbers whose purchase came to nothing, so that they can be bought or imported. */
export async function forgetFailed(
  tx: WorkspaceTx,
  phoneNumbers: string[],
  now: Date,
  onReleased: PhoneNumberDeps['onReleased'],
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update phone_numbers set status = 'released', revision = revision + 1, updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and phone_number = any(${phoneNumbers}) and status in ${from(phoneNumberTransitions, 'released', 'failed')}
    returning id`.execute(tx.db);
  for (const { id } of rows) await onReleased(tx, id);
}

export const firstDueNumber: DueTime = sql`
  select due_at from phone_numbers where due_at is not null order by due_at limit 1`;

/**
 * Takes the numbers that a server has to look at, and puts them off until `next`: whoever dies over them leaves them to
 * another server then.
 */
export async function takeDueNumbers(tx: EngineTx, now: Date, next: Date, limit: number): Promise<PhoneNumberRow[]> {
  const due = await sql<{ workspace_id: string; id: string }>`
    select workspace_id, id from phone_numbers where due_at <= ${now}
    order by due_at limit ${limit} for update skip locked`.execute(tx.db);
  if (due.rows.length === 0) return [];
  const { rows } = await sql<PhoneNumberRow>`
    with n as (update phone_numbers set due_at = ${next}
    where (workspace_id, id) in (
      select * from unnest(${due.rows.map((row) => row.workspace_id)}::uuid[], ${due.rows.map((row) => row.id)}::uuid[])
    ) returning *)
    select n.*, ${trunkColumns} from n ${joinTrunk}`.execute(tx.db);
  return rows;
}

/** What a bought number gets from its provider. */
export const boughtColumns = (number: ProviderNumber) => ({
  provider_number_id: number.providerNumberId ?? null,
  provider_monthly_cost: number.monthlyCost ?? null,
  provider_currency: number.currency ?? null,
});

/** A literal, as the index on numbers has it. */
const isNotReleased = sql<SqlBool>`n.status <> 'released'`;

const numbersOf = (tx: WorkspaceTx) =>
  tx.db
    .selectFrom('phone_numbers as n')
    .leftJoin('trunks as t', (join) =>
      join.onRef('t.workspace_id', '=', 'n.workspace_id').onRef('t.id', '=', 'n.trunk_id'),
    )
    .leftJoin('number_usage as m', (join) =>
      join.onRef('m.workspace_id', '=', 'n.workspace_id').onRef('m.phone_number_id', '=', 'n.id'),
    )
    .selectAll('n')
    .select('m.pool_id')
    .select(['t.status as trunk_status', 't.reason as trunk_reason', 't.termination_url as sip_termination_url'])
    .select(['t.transport as sip_transport', 't.username as sip_username', 't.ip_allowlist as sip_ip_allowlist'])
    .where('n.workspace_id', '=', tx.workspaceId);

/** What a workspace may have. */
const MOST_NUMBERS = 10_000;
export const TOO_MANY_NUMBERS = `A workspace has at most ${MOST_NUMBERS.toLocaleString('en')} numbers. Release one first.`;

/** How many numbers more a workspace may have; its row is locked, so that several at once count each other's. */
export async function roomForNumbers(tx: WorkspaceTx): Promise<number> {
  await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from phone_numbers
    where workspace_id = ${tx.workspaceId} and status <> 'released'`.execute(tx.db);
  return Math.max(0, MOST_NUMBERS - rows[0]!.count);
}
