import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, countedPage, type Page, type PageQuery, pageRows } from '../database/page.ts';
import type { Row } from '../database/schema.ts';
import { timeZonesOfNumber } from '../phone-numbers/number-time-zones.ts';
import type { ListRow } from './list.ts';

type ContactListEntry = components['schemas']['ContactListEntry'];

type EntryRow = Pick<Row<'contact_list_entries'>, 'phone_number' | 'name' | 'timezone' | 'values'> & {
  processed_at: Date;
};

/** An entry as clients see it: its values under the names of the list's columns. */
function shapeEntry(row: EntryRow, columns: readonly string[]): ContactListEntry {
  const variables: Record<string, string> = {};
  for (const [index, value] of row.values.entries()) if (value !== null) variables[columns[index]!] = value;
  return {
    phoneNumber: `+${row.phone_number}`,
    ...(row.name !== null && { name: row.name }),
    ...shapeZones(row),
    variables,
    createdAt: row.processed_at.toISOString(),
  };
}

/** Its own time zone, else those that its number may be in. */
function shapeZones({ timezone, phone_number }: EntryRow) {
  if (timezone !== null) return { timezone, timezoneSource: 'column' as const, timezones: [timezone] };
  const timezones = [...timeZonesOfNumber(phone_number)];
  const [only, ...others] = timezones;
  if (only === undefined) return { timezoneSource: 'unknown' as const };
  return { ...(others.length === 0 && { timezone: only }), timezoneSource: 'number' as const, timezones };
}

/**
 * A page of the imported entries, in the order of their imports and, within one, of the file. Each upload is read by
 * its own index, so that the first pages cost the same in a list of a million.
 */
export async function entryPage(tx: WorkspaceTx, list: ListRow, query: PageQuery): Promise<Page<ContactListEntry>> {
  const { limit, offset } = pageRows(query);
  const direction = sql.raw(query.order);
  const pattern = query.searchText === undefined ? undefined : containing(query.searchText);
  const matches = pattern
    ? sql`and (entry.name ilike ${pattern} or '+' || entry.phone_number::text like ${pattern})`
    : sql``;
  const uploads = sql`
    select id, processed_at from contact_list_uploads
    where workspace_id = ${tx.workspaceId} and list_id = ${list.id} and status = 'processed'`;
  const entriesOfUpload = sql`
    from contact_list_entries entry
    where entry.workspace_id = ${tx.workspaceId} and entry.upload_id = upload.id ${matches}`;
  const page = sql<EntryRow>`
    select entry.*, upload.processed_at
    from (${uploads}) upload cross join lateral (
      select entry.phone_number, entry.name, entry.timezone, entry."values", entry.row_number ${entriesOfUpload}
      order by entry.row_number ${direction} limit ${limit + offset}
    ) entry
    order by upload.processed_at ${direction}, upload.id ${direction}, entry.row_number ${direction}
    limit ${limit} offset ${offset}`;
  const count = pattern
    ? sql`(select coalesce(sum(found.count), 0)::bigint
        from (${uploads}) upload cross join lateral (select count(*) as count ${entriesOfUpload}) found)`
    : sql`${list.total_entries}::bigint`;
  const { rows, totalCount } = await countedPage(tx, count, page);
  return { rows: rows.map((row) => shapeEntry(row, list.columns)), totalCount };
}
