import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { SearchText } from './search-text.ts';

type Found = components['schemas']['SearchResult'];

/** So many rows of contact lists are looked at, which takes a tenth of a second; those that have come last. */
const MOST_ROWS = 100_000;
/** A person may stand in many lists. */
const MOST_FOUND = 1000;

const whatLists = sql`l.status <> 'archived' and l.type in ('contacts', 'dnd')`;

/**
 * The people of contact lists, each once as the list that came last has them: by a whole number wherever it stands, and by a
 * part of it or a word of a name among the last rows. An index of names would make every import dearer.
 */
export async function findPeople(
  tx: WorkspaceTx,
  { digits, isWholeNumber, inName }: SearchText,
  most: number,
): Promise<Found> {
  const number = isWholeNumber ? sql`and phone_number = ${digits}` : sql``;
  const named = sql`name ~* ${inName}`;
  const numbered = sql`phone_number::text like ${`%${digits}%`}`;
  const either = isWholeNumber ? numbered : sql`(${numbered} or ${named})`;
  const is = digits === undefined ? named : either;
  const { rows } = await sql<{ phone_number: number; name: string | null }>`
    select phone_number, name from (
      select e.phone_number, e.name
      from (
        select u.id from contact_list_uploads u
        join contact_lists l on l.workspace_id = u.workspace_id and l.id = u.list_id
        where u.workspace_id = ${tx.workspaceId} and u.status = 'processed' and ${whatLists}
        order by u.processed_at desc, u.id desc) u
      cross join lateral (
        select phone_number, left(name, 255) as name from contact_list_entries
        where workspace_id = ${tx.workspaceId} and upload_id = u.id ${number}
        order by row_number desc limit ${sql.lit(MOST_ROWS)}) e
      limit ${sql.lit(MOST_ROWS)}) looked
    where ${is} limit ${sql.lit(MOST_FOUND)}`.execute(tx.db);
  const people = new Map<number, string | null>();
  for (const { phone_number, name } of rows) if (!people.has(phone_number)) people.set(phone_number, name);
  return {
    hits: [...people].slice(0, most).map(([person, name]) => {
      const phoneNumber = `+${person}`;
      const matched = digits !== undefined && String(person).includes(digits) ? 'number' : 'name';
      return { type: 'person', id: phoneNumber, matched, ...(name && { name }), phoneNumber };
    }),
    peopleIncomplete: (rows.length === MOST_FOUND && people.size < most) || (!isWholeNumber && (await hasMoreRows(tx))),
  };
}

async function hasMoreRows(tx: WorkspaceTx): Promise<boolean> {
  const { rows } = await sql<{ has_more: boolean }>`
    select coalesce(sum(l.total_entries), 0) > ${sql.lit(MOST_ROWS)} as has_more from contact_lists l
    where l.workspace_id = ${tx.workspaceId} and ${whatLists}`.execute(tx.db);
  return rows[0]!.has_more;
}
