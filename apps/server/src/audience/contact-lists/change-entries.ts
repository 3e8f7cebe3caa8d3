import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { existing, noNumber, notFound, refuse } from '../../foundation/values/service-error.ts';
import { raiseDoNotCallOf } from '../../platform/do-not-call/store.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { columnsFor, lockOwnList } from './add-entries.ts';
import { mayForget, mayShorten } from './delete-list.ts';
import type { ContactListDeps } from './deps.ts';
import { editionOf, shapeEntry } from './entry-store.ts';
import { valuesOf, wordOf } from './judge-entries.ts';
import type { ListRow } from './list.ts';
import { readPhoneNumber } from './reading/phone-number.ts';
import { readTimeZone, timeZoneFault } from './reading/time-zone.ts';
import { findList, noteWords, readyUploads } from './store.ts';

type Deps = Pick<ContactListDeps, 'database' | 'clock' | 'limits'>;

/** An entry, by the UUID of its list and its number as somebody has written it. */
export interface EntryKey {
  listId: string;
  phoneNumber: string;
}

/** The number of an entry, E.164 without the plus. Throws `invalid_request` for what can't be read as one. */
function numberOfEntry(written: string, { default_country }: Pick<ListRow, 'default_country'>): number {
  if (isE164(written)) return Number(written.slice(1));
  const read = readPhoneNumber(written, default_country ?? undefined);
  if ('code' in read) throw noNumber(read.reason);
  return read.digits;
}

/**
 * Changes what a list says of one person. Throws `not_found`, `invalid_state`, `changed_meanwhile`, `invalid_request`, and
 * `forbidden` for a word against calls that is taken back without `do_not_call:write`.
 * @param permissions of the key
 */
export async function updateEntry(
  { database, clock, limits }: Deps,
  workspaceId: string,
  { listId, phoneNumber: written, ifMatch }: EntryKey & { ifMatch: string | undefined },
  { name, timezone, variables: sent = {}, ...words }: components['schemas']['UpdateContactListEntry'],
  permissions: readonly string[],
  auditOf: AuditOf,
): Promise<components['schemas']['ContactListEntry']> {
  const zone = timezone?.trim() ? readTimeZone(timezone.trim()) : null;
  if (zone === undefined) refuse([{ path: '/body/timezone', message: timeZoneFault(timezone!) }]);
  const { rest: variables, doNotCall = words.doNotCall, consent = words.consent } = wordOf(words, sent);
  return database.inWorkspace(workspaceId, async (tx) => {
    const list = await lockOwnList(tx, listId);
    const phoneNumber = numberOfEntry(written, list);
    const entry = await findEntry(tx, listId, phoneNumber);
    checkEdition(editionOf(shapeEntry(entry, list.columns)), ifMatch);
    if (doNotCall === false && entry.do_not_call) mayForget(permissions);
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
      do_not_call: doNotCall === undefined ? entry.do_not_call : doNotCall || null,
      consent: consent === undefined ? entry.consent : consent,
    };
    refuseLong(after, limits);
    await tx.db
      .updateTable('contact_list_entries')
      .set({ ...after, consent: after.consent && JSON.stringify(after.consent) })
      .where('workspace_id', '=', workspaceId)
      .where('upload_id', '=', entry.upload_id)
      .where('phone_number', '=', phoneNumber)
      .execute();
    if (doNotCall) {
      await noteWords(tx, listId);
      await raiseDoNotCallOf(tx, listId);
    }
    await touch(tx, listId, 0, clock.now());
    await audit(tx, auditOf('contact_list.entry_updated', 'contact_list', toId('list', listId)), clock.now());
    return readShaped(tx, (await findList(tx, listId))!, phoneNumber);
  });
}

/** What a list says of one person. Throws `not_found` and `invalid_request`. */
export async function readEntry(
  { database }: Deps,
  workspaceId: string,
  { listId, phoneNumber }: EntryKey,
): Promise<components['schemas']['ContactListEntry']> {
  return database.inSnapshot(workspaceId, async (tx) => {
    const list = await existing(findList(tx, listId));
    return readShaped(tx, list, numberOfEntry(phoneNumber, list));
  });
}

const readShaped = async (tx: WorkspaceTx, list: ListRow, phoneNumber: number) =>
  shapeEntry(await findEntry(tx, list.id, phoneNumber), list.columns);

/**
 * Takes one person off a list. Answers whom, in E.164 without the plus. Throws `not_found`, `invalid_state`,
 * `invalid_request`, and `forbidden` for a `dnd` list, or a word against calls, without `do_not_call:write`.
 * @param permissions of the key
 */
export async function removeEntry(
  { database, clock }: Deps,
  workspaceId: string,
  { listId, phoneNumber: written }: EntryKey,
  permissions: readonly string[],
  auditOf: AuditOf,
): Promise<number> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const list = await lockOwnList(tx, listId);
    mayShorten(list, permissions);
    const phoneNumber = numberOfEntry(written, list);
    const entry = await findEntry(tx, listId, phoneNumber);
    if (entry.do_not_call) mayForget(permissions);
    await tx.db
      .deleteFrom('contact_list_entries')
      .where('workspace_id', '=', workspaceId)
      .where('upload_id', '=', entry.upload_id)
      .where('phone_number', '=', phoneNumber)
      .execute();
    await touch(tx, listId, -1, clock.now());
    await audit(tx, auditOf('contact_list.entry_removed', 'contact_list', toId('list', listId)), clock.now());
    return phoneNumber;
  });
}

/** Gives a list another name. Throws `not_found`, `invalid_state` and `changed_meanwhile`. */
export async function renameList(
  { database, clock }: Deps,
  workspaceId: string,
  { listId, name, ifMatch }: { listId: string; name: string | undefined; ifMatch: string | undefined },
  auditOf: AuditOf,
): Promise<ListRow> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const list = await lockOwnList(tx, listId);
    checkEdition(list, ifMatch);
    if (name === undefined) return list;
    const now = clock.now();
    await audit(tx, auditOf('contact_list.updated', 'contact_list', toId('list', listId)), now);
    return tx.db
      .updateTable('contact_lists')
      .set({ name, updated_at: now, edition: list.edition + 1 })
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

function refuseLong(entry: Pick<FoundEntry, 'name' | 'values' | 'consent'>, limits: ContactListDeps['limits']): void {
  const filled = entry.values.filter((value) => value !== null);
  const consent = Object.values(entry.consent ?? {}).filter((value) => typeof value === 'string');
  const texts = [entry.name ?? '', ...filled, ...consent];
  const length = texts.reduce((sum, value) => sum + value.length, 0);
  if (filled.length > limits.maxColumns) {
    refuse([{ path: '/body/variables', message: `would be ${filled.length} together; ${limits.maxColumns} can be` }]);
  }
  if (length > limits.maxRowLength) {
    refuse([{ path: '/body/variables', message: 'would make the entry longer than a row may be' }]);
  }
}
