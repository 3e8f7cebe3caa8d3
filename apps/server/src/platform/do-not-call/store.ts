import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import { numberCheck, numberDigest } from '../../foundation/database/number-digest.ts';
import {
  containsAny,
  countedPage,
  isAfter,
  type Page,
  type PageQuery,
  pageRows,
} from '../../foundation/database/page.ts';
import { doNotCallNumbers, isErasedDoNotCall, readDoNotCallUploads } from './do-not-call-numbers.ts';

/** A number that is not called, and where that stands: an opt-out, or an entry of a list. Numbers are E.164 without plus. */
export interface DoNotCallRow {
  phone_number: number;
  reason: string | null;
  list_id: string | null;
  created_at: Date;
}

/**
 * Has calls that are claimed, and not placed yet, looked at again before they are. Called first in a transaction that
 * forbids calls: it locks the workspace's row (docs/dialing.md, "Locks").
 */
export async function raiseDoNotCall(tx: WorkspaceTx): Promise<void> {
  await sql`update workspaces set do_not_call_revision = do_not_call_revision + 1 where id = ${tx.workspaceId}`.execute(
    tx.db,
  );
}

/** The same for a list whose entries have changed, if any of them is not to be called. */
export async function raiseDoNotCallOf(tx: WorkspaceTx, listId: string): Promise<void> {
  await sql`
    update workspaces w set do_not_call_revision = do_not_call_revision + 1
    where w.id = ${tx.workspaceId} and (
      exists (select from contact_lists l where l.workspace_id = w.id and l.id = ${listId} and l.type = 'dnd')
      or exists (select from campaign_lists l where l.workspace_id = w.id and l.list_id = ${listId} and l.role = 'dnd')
      or exists (select from contact_list_uploads u where u.workspace_id = w.id and u.list_id = ${listId} and u.has_do_not_call))`.execute(
    tx.db,
  );
}

/** Adds an opt-out. One that is there keeps its reason and time. `phoneNumber` is E.164 without the plus. */
export async function addOptOut(
  tx: WorkspaceTx,
  phoneNumber: number,
  reason: string | undefined,
  now: Date,
): Promise<void> {
  await addOptOuts(tx, [phoneNumber], reason, now);
}

/** Adds opt-outs, each number once; an erased one that is not called stays an HMAC. Returns those that are new. */
export async function addOptOuts(
  tx: WorkspaceTx,
  phoneNumbers: readonly number[],
  reason: string | undefined,
  now: Date,
): Promise<number[]> {
  // Sorted, so that requests with the same numbers wait for each other in one order.
  const sorted = [...new Set(phoneNumbers)].sort((a, b) => a - b);
  const { rows } = await sql<{ phone_number: number }>`
    insert into do_not_call (workspace_id, phone_number, reason, created_at)
    select ${tx.workspaceId}, number, ${reason ?? null}, ${now} from unnest(${sorted}::bigint[]) as number
    where not ${isErasedDoNotCall(sql.ref('number'), sql`${tx.workspaceId}::uuid`)}
    on conflict do nothing returning phone_number`.execute(tx.db);
  return rows.map((row) => row.phone_number);
}

/**
 * Puts opt-outs back that a restored database has lost, by the HMACs of their numbers: nobody knows more of them. One whose
 * number is there already is left out. Answers how many are new.
 * @param digests in hex, as `numberDigest` makes them
 */
export async function putOptOutsBack(tx: WorkspaceTx, digests: readonly string[], now: Date): Promise<number> {
  await raiseDoNotCall(tx);
  const { rows } = await sql`
    insert into do_not_call_erased (workspace_id, digest, created_at)
    select w.id, decode(x.digest, 'hex'), ${now} from unnest(${digests}::text[]) as x (digest)
    join workspaces w on w.id = ${tx.workspaceId}
    where not exists (select from (select ${numberDigest(sql`phone_number`, sql`workspace_id`)} as digest
      from do_not_call where workspace_id = ${tx.workspaceId}) as d where d.digest = decode(x.digest, 'hex'))
    on conflict do nothing returning digest`.execute(tx.db);
  if (rows.length > 0) await keepNumberCheck(tx);
  return rows.length;
}

/** Has the database know the key of its HMACs, so that no server runs with another. */
export async function keepNumberCheck({ db }: Tx): Promise<void> {
  await sql`update installation set number_check = ${numberCheck} where number_check is null`.execute(db);
}

/** Takes an opt-out back. Answers what the audit log names it by: an erased one by its HMAC. Nothing where there is none. */
export async function removeOptOut(tx: WorkspaceTx, phoneNumber: number): Promise<string | undefined> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('do_not_call')
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number', '=', phoneNumber)
    .executeTakeFirst();
  if (numDeletedRows > 0n) return `+${phoneNumber}`;
  const { workspaceId } = tx;
  const { rows } = await sql<{ mark: string }>`
    delete from do_not_call_erased where workspace_id = ${workspaceId}
      and digest = ${numberDigest(sql`${phoneNumber}::bigint`, sql`${workspaceId}::uuid`)}
    returning 'hmac:' || encode(digest, 'hex') as mark`.execute(tx.db);
  return rows[0]?.mark;
}

/** Which numbers of an upload come after the page before: one bound, so that the index on numbers answers it. */
function isAfterInUpload({ after, order }: PageQuery): RawBuilder<unknown> {
  if (after === undefined) return sql``;
  const [time, number, source] = after;
  const beyond = sql.raw(order === 'asc' ? '>' : '<');
  const [all, none, step] = order === 'asc' ? [BEFORE_ALL, AFTER_ALL, -1] : [AFTER_ALL, BEFORE_ALL, 1];
  return sql`and phone_number ${beyond} case
    when u.processed_at ${beyond} ${time} then ${all}
    when u.processed_at <> ${time} then ${none}
    when u.id ${beyond} ${source} then ${number}::bigint + ${sql.lit(step)} else ${number}::bigint end`;
}

/** More digits than E.164 has. */
const AFTER_ALL = sql.lit(1e15);
const BEFORE_ALL = sql.lit(-1);

/** Stands where list entries have their upload's ID. */
const OPT_OUT = `'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

/**
 * One page of opt-outs and list entries together, by time, and how many there are on all pages. The entries of one upload
 * have one time, so each upload gives no more than the page's end is away from the beginning, by its index on the number;
 * opt-outs give as many, by an index that holds those after 1970 only so that nothing else is led to it.
 */
export async function listDoNotCall(tx: WorkspaceTx, page: PageQuery): Promise<Page<DoNotCallRow>> {
  const { workspaceId } = tx;
  const { limit, offset } = pageRows(page);
  const direction = sql.raw(page.order === 'asc' ? 'asc' : 'desc');
  const { searchText } = page;
  const matching = searchText ? containsAny(["'+' || phone_number"], searchText) : sql`true`;
  const uploads = await readDoNotCallUploads(tx);
  const entries = sql<DoNotCallRow & { source: string }>`
    select * from (
      (select phone_number, reason, null::uuid as list_id, created_at, ${sql.raw(OPT_OUT)} as source from do_not_call
      where workspace_id = ${workspaceId} and created_at > 'epoch' and ${matching}
        ${isAfter(page, ['created_at', 'phone_number', OPT_OUT])}
      order by created_at ${direction}, phone_number ${direction} limit ${offset + limit})
      union all
      select e.phone_number, null, u.list_id, u.processed_at, u.id from contact_list_uploads u
      cross join lateral (
        select phone_number from contact_list_entries
        where workspace_id = ${workspaceId} and upload_id = u.id and ${matching}
          ${isAfterInUpload(page)}
        order by phone_number ${direction} limit ${offset + limit}
      ) e
      where u.workspace_id = ${workspaceId} and u.id = any(${uploads.all}::uuid[])
    ) entry
    order by created_at ${direction}, phone_number ${direction}, source ${direction}
    limit ${limit} offset ${offset}`;
  const count = sql`(select count(*) from (${doNotCallNumbers(sql`${workspaceId}`, uploads)}) as d where ${matching})`;
  return countedPage(tx, page, count, entries, (row) => [row.created_at, row.phone_number, row.source]);
}
