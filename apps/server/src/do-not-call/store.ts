import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, countedPage, type Page, type PageQuery, pageRows } from '../database/page.ts';
import { doNotCallNumbers, readDoNotCallUploads } from './do-not-call-numbers.ts';

/** A number that is not called, and where that stands: an opt-out, or an entry of a list. Numbers are E.164 without plus. */
export interface DoNotCallRow {
  phone_number: number;
  reason: string | null;
  list_id: string | null;
  created_at: Date;
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

/** Adds opt-outs, each number once. Returns those that are new. */
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
    on conflict do nothing returning phone_number`.execute(tx.db);
  return rows.map((row) => row.phone_number);
}

/** Takes an opt-out back. Answers whether there was one. */
export async function removeOptOut(tx: WorkspaceTx, phoneNumber: number): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('do_not_call')
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number', '=', phoneNumber)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * One page of opt-outs and list entries together, by time, and how many there are on all pages. The entries of one upload
 * have one time, so each upload gives no more than the page's end is away from the beginning, by its index on the number.
 */
export async function listDoNotCall(tx: WorkspaceTx, page: PageQuery): Promise<Page<DoNotCallRow>> {
  const { workspaceId } = tx;
  const { limit, offset } = pageRows(page);
  const direction = sql.raw(page.order === 'asc' ? 'asc' : 'desc');
  const { searchText } = page;
  const matching = searchText === undefined ? sql`true` : sql`('+' || phone_number) like ${containing(searchText)}`;
  const uploads = await readDoNotCallUploads(tx);
  const entries = sql<DoNotCallRow>`
    select * from (
      select phone_number, reason, null::uuid as list_id, created_at from do_not_call
      where workspace_id = ${workspaceId} and ${matching}
      union all
      select e.phone_number, null, u.list_id, u.processed_at from contact_list_uploads u
      cross join lateral (
        select phone_number from contact_list_entries
        where workspace_id = ${workspaceId} and upload_id = u.id and ${matching}
        order by phone_number ${direction} limit ${offset + limit}
      ) e
      where u.workspace_id = ${workspaceId} and u.id = any(${uploads}::uuid[])
    ) entry
    order by created_at ${direction}, phone_number ${direction}, list_id ${direction}
    limit ${limit} offset ${offset}`;
  const count = sql`(select count(*) from (${doNotCallNumbers(sql`${workspaceId}`, sql`${uploads}`)}) as d where ${matching})`;
  return countedPage(tx, count, entries);
}
