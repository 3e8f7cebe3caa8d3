import { sql } from 'kysely';
import { uniqueNames } from '../../audience/contact-lists/reading/header.ts';
import { toE164 } from '../../dialing/calls/call.ts';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { toId } from '../../foundation/values/ids.ts';

/** Rows read at a time; one is at most as long as a row of a contact file, 64 KiB. */
const CHUNK = 500;

/** A file that grows: its first line, and its others, a set at a time. */
export interface Table {
  header: readonly string[];
  rows: AsyncGenerator<unknown[][]>;
}

const LIST_COLUMNS = [
  ...['phoneNumber', 'name', 'timezone', 'doNotCall'],
  ...['consent', 'consentSource', 'consentTime', 'consentPurpose'],
];
const CAMPAIGN_COLUMNS = [
  'contactId',
  'phoneNumber',
  'name',
  'state',
  'attempts',
  'lastOutcome',
  'reason',
  'externalId',
];

/** The imported entries of a list, as a file that can be uploaded again; nothing where there is no such list. */
export async function listTable(database: Database, workspaceId: string, listId: string): Promise<Table | undefined> {
  const found = await database.inSnapshot(workspaceId, (tx) => listToRead(tx, listId));
  if (!found) return undefined;
  const { columns, uploads } = found;
  return { header: uniqueNames([...LIST_COLUMNS, ...columns]), rows: entryRows(database, workspaceId, uploads) };
}

async function listToRead(tx: WorkspaceTx, listId: string) {
  const { rows } = await sql<{ columns: string[]; uploads: string[] }>`
    select columns, array(select id::text from contact_list_uploads u where u.workspace_id = l.workspace_id
      and u.list_id = l.id and u.status = 'processed' order by processed_at, id) as uploads
    from contact_lists l
    where workspace_id = ${tx.workspaceId} and id = ${listId} and status <> 'archived'`.execute(tx.db);
  return rows[0];
}

type EntryColumn = 'phone_number' | 'row_number' | 'name' | 'timezone' | 'values' | 'do_not_call' | 'consent';
type EntryRow = Pick<Row<'contact_list_entries'>, EntryColumn>;

async function* entryRows(database: Database, workspaceId: string, uploads: string[]): AsyncGenerator<unknown[][]> {
  for (const uploadId of uploads) {
    let last = { row_number: -1, phone_number: 0 };
    for (;;) {
      const { rows } = await database.inWorkspace(workspaceId, (tx) =>
        sql<EntryRow>`
          select phone_number, row_number, name, timezone, "values", do_not_call, consent from contact_list_entries
          where workspace_id = ${tx.workspaceId} and upload_id = ${uploadId}
            and (row_number, phone_number) > (${last.row_number}, ${last.phone_number})
          order by row_number, phone_number limit ${sql.lit(CHUNK)}`.execute(tx.db),
      );
      yield rows.map((row) => [
        ...[
          toE164(row.phone_number),
          row.name,
          row.timezone,
          row.do_not_call && 'yes',
          row.consent && yesNo(row.consent),
        ],
        ...[row.consent?.source, row.consent?.time, row.consent?.purpose],
        ...row.values,
      ]);
      if (rows.length < CHUNK) break;
      last = rows.at(-1)!;
    }
  }
}

const yesNo = ({ given }: { given: boolean }) => (given ? 'yes' : 'no');

/** The contacts of a campaign or of a batch, with how far each is; nothing where there is none. */
export async function campaignTable(
  database: Database,
  workspaceId: string,
  campaignId: string,
  kind: Row<'campaigns'>['kind'],
): Promise<Table | undefined> {
  const lists = await database.inSnapshot(workspaceId, (tx) => listsToRead(tx, campaignId, kind));
  if (!lists) return undefined;
  // Lists may have columns of one name: that is one column.
  const variables = [...new Set([...lists.values()].flat())];
  const places = new Map(
    [...lists].map(([id, columns]) => [id, variables.map((name) => columns.indexOf(name))] as const),
  );
  const rows = campaignRows(database, workspaceId, campaignId, places);
  return { header: uniqueNames([...CAMPAIGN_COLUMNS, ...variables]), rows };
}

/** The columns of each list of a campaign. */
async function listsToRead(tx: WorkspaceTx, campaignId: string, kind: Row<'campaigns'>['kind']) {
  const { rows } = await sql<{ id: string; columns: string[] }>`
    select l.id, l.columns from campaigns c
    left join campaign_lists cl on cl.workspace_id = c.workspace_id and cl.campaign_id = c.id
    left join contact_lists l on l.workspace_id = cl.workspace_id and l.id = cl.list_id
    where c.workspace_id = ${tx.workspaceId} and c.id = ${campaignId} and c.kind = ${kind}
    order by l.id`.execute(tx.db);
  if (rows.length === 0) return undefined;
  return new Map(rows.filter(({ id }) => id !== null).map(({ id, columns }) => [id, columns]));
}

type ContactColumn = 'id' | 'list_id' | 'phone_number' | 'name' | 'values' | 'state' | 'last_outcome' | 'external_id';
type ContactRow = Pick<Row<'campaign_contacts'>, ContactColumn> & { attempts: number; reason: string | null };

/** @param places where each variable of the file stands in the columns of each list */
async function* campaignRows(
  database: Database,
  workspaceId: string,
  campaignId: string,
  places: ReadonlyMap<string, number[]>,
): AsyncGenerator<unknown[][]> {
  let last: string | undefined;
  for (;;) {
    const { rows } = await database.inWorkspace(workspaceId, (tx) =>
      sql<ContactRow>`
        select c.id, c.list_id, c.phone_number, c.name, c."values", c.state, c.last_outcome, c.external_id, k.attempts,
          case when c.state in ('done', 'skipped') then c.reason end as reason
        from (select * from campaign_contacts where workspace_id = ${tx.workspaceId} and campaign_id = ${campaignId}
          ${last === undefined ? sql`` : sql`and id > ${last}`} order by id limit ${sql.lit(CHUNK)}) as c
        cross join lateral (
          select count(*) filter (where dialed_at is not null and (status <> 'cancelled' or ended_by <> 'error')) as attempts
          from calls where workspace_id = ${tx.workspaceId} and owner_id = c.id) as k
        order by c.id`.execute(tx.db),
    );
    yield rows.map((row) => [
      toId('cc', row.id),
      toE164(row.phone_number),
      ...[row.name, row.state, row.attempts, row.last_outcome, row.reason, row.external_id],
      ...(places.get(row.list_id) ?? []).map((place) => row.values[place]),
    ]);
    if (rows.length < CHUNK) return;
    last = rows.at(-1)!.id;
  }
}
