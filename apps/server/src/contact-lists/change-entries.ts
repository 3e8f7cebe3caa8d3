import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import type { Row } from '../database/schema.ts';
import { toId } from '../ids.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { notFound, refuse } from '../service-error.ts';
import { columnsFor, lockOwnList } from './add-entries.ts';
import { mayShorten } from './delete-list.ts';
import type { ContactListDeps } from './deps.ts';
import { shapeEntry } from './entry-store.ts';
import { valuesOf } from './judge-entries.ts';
import type { ListRow } from './list.ts';
import { readTimeZone, timeZoneFault } from './reading/time-zone.ts';
import { findList, readyUploads } from './store.ts';

type Deps = Pick<ContactListDeps, 'database' | 'clock' | 'limits'>;

/** An entry, by the UUID of its list and its number, E.164 without the plus. */
export interface EntryKey {
  listId: string;
  phoneNumber: number;
}

/** Changes what a list says of one person. Throws `not_found`, `invalid_state` and `invalid_request`. */
export async function updateEntry(
  { database, clock, limits }: Deps,
  workspaceId: string,
  { listId, phoneNumber }: EntryKey,
  { name, timezone, variables = {} }: components['schemas']['UpdateContactListEntry'],
  auditOf: AuditOf,
): Promise<components['schemas']['ContactListEntry']> {
  const zone = timezone?.trim() ? readTimeZone(timezone.trim()) : null;
  if (zone === undefined) refuse([{ path: '/body/timezone', message: timeZoneFault(timezone!) }]);
  return database.inWorkspace(workspaceId, async (tx) => {
    const list = await lockOwnList(tx, listId);
    const entry = await findEntry(tx, listId, phoneNumber);
    const given = valuesOf(variables);
    const places = await columnsFor(tx, listId, Object.keys(given), '/body/variables');
    const values = [...entry.values];
    for (const [variable, value] of Object.entries(given)) values[places.get(variable)!] = value;
    for (const variable of Object.keys(variables).filter((each) => !(each in given))) {
      const at = list.columns.indexOf(variable);
      if (at !== -1) values[at] = null;
    }
    const after = {
      name: name === undefined ? entry.name : name?.trim() || null,
      timezone: timezone === undefined ? entry.timezone : (zone ?? null),
      values: Array.from(values, (value) => value ?? null),
    };
    refuseLong(after, limits);
    await tx.db
      .updateTable('contact_list_entries')
      .set(after)
      .where('workspace_id', '=', workspaceId)
      .where('upload_id', '=', entry.upload_id)
      .where('phone_number', '=', phoneNumber)
      .execute();
    await touch(tx, listId, 0, clock.now());
    await audit(tx, auditOf('contact_list.entry_updated', 'contact_list', toId('list', listId)), clock.now());
    return shapeEntry({ ...entry, ...after }, (await findList(tx, listId))!.columns);
  });
}

/**
 * Takes one person off a list. Throws `not_found`, `invalid_state`, and `forbidden` for a `dnd` list without
 * `do_not_call:write`.
 * @param permissions of the key
 */
export async function removeEntry(
  { database, clock }: Deps,
  workspaceId: string,
  { listId, phoneNumber }: EntryKey,
  permissions: readonly string[],
  auditOf: AuditOf,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    mayShorten(await lockOwnList(tx, listId), permissions);
    const entry = await findEntry(tx, listId, phoneNumber);
    await tx.db
      .deleteFrom('contact_list_entries')
      .where('workspace_id', '=', workspaceId)
      .where('upload_id', '=', entry.upload_id)
      .where('phone_number', '=', phoneNumber)
      .execute();
    await touch(tx, listId, -1, clock.now());
    await audit(tx, auditOf('contact_list.entry_removed', 'contact_list', toId('list', listId)), clock.now());
  });
}

/** Gives a list another name. Throws `not_found` and `invalid_state`. */
export async function renameList(
  { database, clock }: Deps,
  workspaceId: string,
  { listId, name }: { listId: string; name: string | undefined },
  auditOf: AuditOf,
): Promise<ListRow> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const list = await lockOwnList(tx, listId);
    if (name === undefined) return list;
    const now = clock.now();
    await audit(tx, auditOf('contact_list.updated', 'contact_list', toId('list', listId)), now);
    return tx.db
      .updateTable('contact_lists')
      .set({ name, updated_at: now })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', listId)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

type FoundEntry = Row<'contact_list_entries'> & { processed_at: Date };

/** The entry of a number. Throws `not_found`. */
async function findEntry(tx: WorkspaceTx, listId: string, phoneNumber: number): Promise<FoundEntry> {
  const ready = await readyUploads(tx, listId);
  const { rows } = await sql<FoundEntry>`
    select e.*, u.processed_at from contact_list_entries e
    join contact_list_uploads u on u.workspace_id = e.workspace_id and u.id = e.upload_id
    where e.workspace_id = ${tx.workspaceId} and e.upload_id = any(${ready}::uuid[]) and e.phone_number = ${phoneNumber}`.execute(
    tx.db,
  );
  if (!rows[0]) throw notFound();
  return rows[0];
}

async function touch(tx: WorkspaceTx, listId: string, added: number, now: Date): Promise<void> {
  await sql`
    update contact_lists set total_entries = total_entries + ${added}, updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and id = ${listId}`.execute(tx.db);
}

function refuseLong(entry: Pick<FoundEntry, 'name' | 'values'>, limits: ContactListDeps['limits']): void {
  const filled = entry.values.filter((value) => value !== null);
  const length = filled.reduce((sum, value) => sum + value.length, entry.name?.length ?? 0);
  if (filled.length > limits.maxColumns) {
    refuse([{ path: '/body/variables', message: `would be ${filled.length} together; ${limits.maxColumns} can be` }]);
  }
  if (length > limits.maxRowLength) {
    refuse([{ path: '/body/variables', message: 'would make the entry longer than a row may be' }]);
  }
}
