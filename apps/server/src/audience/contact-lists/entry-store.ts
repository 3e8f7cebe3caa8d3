import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import {
  containsAny,
  countedPage,
  type Page,
  type PageQuery,
  pageRows,
  placeIn,
} from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { Edited } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { timeZonesOfNumber } from '../../lines/phone-numbers/number-time-zones.ts';
import type { ListRow } from './list.ts';

type ContactListEntry = components['schemas']['ContactListEntry'];

/** An entry with the upload that brought it. */
export type EntryRow = Pick<
  Row<'contact_list_entries'>,
  'phone_number' | 'name' | 'timezone' | 'values' | 'do_not_call' | 'consent' | 'created_at' | 'row_number'
> & {
  processed_at: Date;
  upload: string;
};

type ShownEntry = Omit<EntryRow, 'row_number' | 'upload'>;

/** What an entry `old` becomes where its number comes again as `new`: what is new is taken, the rest stays, a word against calls always. */
export const newValues = sql`
  name = coalesce(new.name, old.name),
  timezone = coalesce(new.timezone, old.timezone),
  do_not_call = old.do_not_call or new.do_not_call,
  consent = coalesce(new.consent, old.consent),
  "values" = array(
    select coalesce(new_value, old_value)
    from unnest(new."values", old."values") with ordinality both_values (new_value, old_value, place)
    order by place)`;

/** An entry as clients see it: its values under the names of the list's columns. */
export function shapeEntry(row: ShownEntry, columns: readonly string[]): ContactListEntry {
  const variables: Record<string, string> = {};
  for (const [index, value] of row.values.entries()) if (value !== null) variables[columns[index]!] = value;
  return {
    phoneNumber: `+${row.phone_number}`,
    ...(row.name !== null && { name: row.name }),
    ...shapeZones(row),
    ...(row.do_not_call && { doNotCall: true }),
    ...(row.consent && { consent: row.consent }),
    variables,
    createdAt: (row.created_at ?? row.processed_at).toISOString(),
  };
}

/**
 * What stands for the edition of an entry, of which there are millions: what it says. It may go, and come again by another
 * file, and all that its clients see of it are such changes.
 */
export const editionOf = (entry: ContactListEntry): Edited => ({
  edition: hash('sha256', JSON.stringify(entry), 'base64url').slice(0, 22),
});

/** Its own time zone, else those that its number may be in. */
function shapeZones({ timezone, phone_number }: ShownEntry) {
  if (timezone !== null) return { timezone, timezoneSource: 'column' as const, timezones: [timezone] };
  const timezones = [...timeZonesOfNumber(phone_number)];
  const [only, ...others] = timezones;
  if (only === undefined) return { timezoneSource: 'unknown' as const };
  return { ...(others.length === 0 && { timezone: only }), timezoneSource: 'number' as const, timezones };
}

/** Which rows come after the page before: one bound for each upload, so that its index answers it. */
function isAfter({ after, order }: PageQuery): RawBuilder<unknown> {
  if (after === undefined) return sql``;
  const [time, id, row] = placeIn(3, after);
  const beyond = sql.raw(order === 'asc' ? '>' : '<');
  const [all, none] = order === 'asc' ? [BEFORE_ALL, AFTER_ALL] : [AFTER_ALL, BEFORE_ALL];
  return sql`and entry.row_number ${beyond} case
    when (upload.processed_at, upload.id) ${beyond} (${time}, ${id}) then ${all}
    when (upload.processed_at, upload.id) = (${time}, ${id}) then ${row}::integer else ${none} end`;
}

const BEFORE_ALL = sql.lit(-1);
const AFTER_ALL = sql.lit(2_147_483_647);

/**
 * A page of the imported entries, in the order of their imports and, within one, of the file. Each upload is read by
 * its own index, so that the first pages cost the same in a list of a million.
 */
export async function entryPage(tx: WorkspaceTx, list: ListRow, query: PageQuery): Promise<Page<ContactListEntry>> {
  const { limit, offset } = pageRows(query);
  const direction = sql.raw(query.order);
  const { searchText } = query;
  const searched = ['entry.name', "'+' || entry.phone_number::text"];
  const matches = searchText ? sql`and ${containsAny(searched, searchText)}` : sql``;
  const uploads = sql`
    select id, processed_at from contact_list_uploads
    where workspace_id = ${tx.workspaceId} and list_id = ${list.id} and status = 'processed'`;
  const entriesOfUpload = sql`
    from contact_list_entries entry
    where entry.workspace_id = ${tx.workspaceId} and entry.upload_id = upload.id ${matches}`;
  const page = sql<EntryRow>`
    select entry.*, upload.processed_at, upload.id as upload
    from (${uploads}) upload cross join lateral (
      select entry.phone_number, entry.name, entry.timezone, entry."values", entry.do_not_call,
        entry.consent, entry.row_number, entry.created_at ${entriesOfUpload}
        ${isAfter(query)}
      order by entry.row_number ${direction} limit ${limit + offset}
    ) entry
    order by upload.processed_at ${direction}, upload.id ${direction}, entry.row_number ${direction}
    limit ${limit} offset ${offset}`;
  const count = searchText
    ? sql`(select coalesce(sum(found.count), 0)::bigint
        from (${uploads}) upload cross join lateral (select count(*) as count ${entriesOfUpload}) found)`
    : sql`${list.total_entries}::bigint`;
  const endOf = (row: EntryRow) => [row.processed_at, row.upload, row.row_number];
  const found = await countedPage(tx, query, count, page, endOf);
  return { ...found, rows: found.rows.map((row) => shapeEntry(row, list.columns)) };
}
