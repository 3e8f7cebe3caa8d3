import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { answerOnce } from '../../foundation/database/kept-answers.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { tellOptOuts } from '../../platform/installation/tell-opt-outs.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { countEntries } from './confirm-upload.ts';
import type { ContactListDeps } from './deps.ts';
import { newValues } from './entry-store.ts';
import { type EntryTerms, judgeEntries, type NewEntry } from './judge-entries.ts';
import type { ListRow } from './list.ts';
import type { CalleeWord, Consent } from './reading/callee-word.ts';
import { appendColumns, lockList, MOST_LIST_COLUMNS, noteWords, readyUploads } from './store.ts';

/** A list whose entries and name a client may change, locked. Throws `not_found`, and `invalid_state` for a batch's. */
export async function lockOwnList(tx: WorkspaceTx, listId: string): Promise<ListRow> {
  const list = await existing(lockList(tx, listId));
  if (list.type === 'batch') throw new ServiceError('invalid_state', 'The server alone changes lists of type batch.');
  return list;
}

/**
 * Adds people to a list as an import would: a number that is there keeps its entry and takes what is new.
 * @param sent each is judged for itself
 * @throws `not_found`; `invalid_state`; `invalid_request` where the list would have too many columns;
 *   `idempotency_key_reused`
 */
export async function addEntries(
  { database, clock, secrets, limits, guard }: ContactListDeps,
  workspaceId: string,
  wanted: { listId: string; sent: readonly unknown[] },
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<components['schemas']['ContactListEntriesAdded']>> {
  const { listId, sent } = wanted;
  let forbidden: number[] = [];
  const since = guard.doubts();
  const now = clock.now();
  const named = idempotencyKey
    ? { operation: 'addContactListEntries', key: idempotencyKey, request: wanted, resourceId: newUuid(), now, secrets }
    : undefined;
  const answer = await database.inWorkspace(workspaceId, async (tx) => {
    const list = await lockOwnList(tx, listId);
    // By these the request is read again too: what was rejected holds data of people, and isn't kept.
    const terms: EntryTerms = { defaultCountry: list.default_country ?? undefined, limits };
    let judged: ReturnType<typeof judgeEntries> | undefined;
    const add = async (): Promise<Counts> => {
      judged = judgeEntries(sent, terms);
      const { entries } = judged;
      if (entries.length === 0) return { added: 0, updated: 0, totalEntries: list.total_entries };
      const rows = await rowsOf(tx, listId, entries);
      const updated = await updateEntries(tx, listId, rows);
      const fresh = rows.filter((row) => !updated.has(row.phone_number));
      if (fresh.length > 0) await insertEntries(tx, await uploadFor(tx, listId, now), fresh, now);
      if (forbidsAny(entries)) await noteWords(tx, listId);
      await countEntries(tx, listId, fresh.length, now);
      await audit(tx, auditOf('contact_list.entries_added', 'contact_list', toId('list', listId)), now);
      return { added: fresh.length, updated: updated.size, totalEntries: list.total_entries + fresh.length };
    };
    const { made, replayed } = await answerOnce<First, First>(
      tx,
      named,
      async () => ({ counts: await add(), terms }),
      (first) => first,
      async (first) => first,
    );
    const { entries, rejected } = judged ?? judgeEntries(sent, made.terms);
    // A first answer that didn't come may have told nobody.
    forbidden = list.type === 'dnd' ? entries.map((entry) => entry.phoneNumber) : [];
    return { made: { ...made.counts, rejected }, replayed };
  });
  if (forbidden.length > 0) await tellOptOuts(guard, workspaceId, forbidden, { at: clock.now(), since });
  return answer;
}

/** What is kept of a first request, for its answer. */
interface First {
  counts: Counts;
  terms: EntryTerms;
}

type Counts = Omit<components['schemas']['ContactListEntriesAdded'], 'rejected'>;

/** An entry as the table holds it, but for its upload. */
interface EntryValues {
  at: number;
  phone_number: number;
  name: string | null;
  timezone: string | null;
  /** At the places of the list's columns. */
  values: (string | null)[];
  do_not_call: true | null;
  consent: Consent | null;
}

/** Whether a list is not to have somebody called from now on. */
const forbidsAny = (entries: readonly CalleeWord[]): boolean => entries.some(({ doNotCall }) => doNotCall);

async function rowsOf(tx: WorkspaceTx, listId: string, entries: readonly NewEntry[]): Promise<EntryValues[]> {
  const names = [...new Set(entries.flatMap(({ variables }) => Object.keys(variables)))];
  const places = await columnsFor(tx, listId, names, '/body/entries');
  return entries.map(({ phoneNumber, name, timezone, variables, doNotCall, consent }, at) => {
    const values: (string | null)[] = [];
    for (const [variable, value] of Object.entries(variables)) values[places.get(variable)!] = value;
    const word = { do_not_call: doNotCall ?? null, consent: consent ?? null };
    return {
      at,
      phone_number: phoneNumber,
      name,
      timezone,
      ...word,
      values: Array.from(values, (value) => value ?? null),
    };
  });
}

/** Where in the list's columns these variables stand; those that are new get a column. Throws `invalid_request`. */
export async function columnsFor(
  tx: WorkspaceTx,
  listId: string,
  names: readonly string[],
  path: string,
): Promise<Map<string, number>> {
  const places = await appendColumns(tx, listId, names, MOST_LIST_COLUMNS);
  if (places === 'too_many') {
    refuse([{ path, message: `would give the list more than ${MOST_LIST_COLUMNS} variables: use a new list` }]);
  }
  return new Map(names.map((name, at) => [name, (places as number[])[at]!]));
}

/** Gives entries that are there what is new. Answers with their numbers. */
async function updateEntries(tx: WorkspaceTx, listId: string, rows: readonly EntryValues[]): Promise<Set<number>> {
  const ready = await readyUploads(tx, listId);
  const updated = await sql<{ phone_number: number }>`
    update contact_list_entries old set ${newValues}
    from json_to_recordset(${JSON.stringify(rows)}) as new (phone_number bigint, name text, timezone text, "values" text[],
      do_not_call boolean, consent jsonb)
    where old.workspace_id = ${tx.workspaceId} and old.upload_id = any(${ready}::uuid[])
      and old.phone_number = new.phone_number
    returning old.phone_number`.execute(tx.db);
  return new Set(updated.rows.map((row) => row.phone_number));
}

async function insertEntries(
  tx: WorkspaceTx,
  uploadId: string,
  rows: readonly EntryValues[],
  now: Date,
): Promise<void> {
  await sql`
    insert into contact_list_entries
      (workspace_id, upload_id, phone_number, row_number, name, timezone, "values", do_not_call, consent, created_at)
    select ${tx.workspaceId}, ${uploadId}, x.phone_number, last.row_number + 1 + x.at, x.name, x.timezone, x."values",
      x.do_not_call, x.consent, ${now}
    from json_to_recordset(${JSON.stringify(rows)}) as x (at integer, phone_number bigint, name text, timezone text,
        "values" text[], do_not_call boolean, consent jsonb),
      (select coalesce(max(row_number), 0) as row_number from contact_list_entries
        where workspace_id = ${tx.workspaceId} and upload_id = ${uploadId}) as last`.execute(tx.db);
}

/**
 * The upload that holds a list's entries by JSON, made where there is none. One that a campaign is still taking its contacts
 * from is left alone: it was started before.
 */
async function uploadFor(tx: WorkspaceTx, listId: string, now: Date): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select u.id from contact_list_uploads u
    where u.workspace_id = ${tx.workspaceId} and u.list_id = ${listId} and u.by_json and u.status = 'processed'
      and not exists (select from campaigns c where c.workspace_id = u.workspace_id
        and c.status in ('running', 'paused') and not c.contacts_added and u.id = any(c.adding_uploads))
    order by u.id desc limit 1`.execute(tx.db);
  if (rows[0]) return rows[0].id;
  const id = newUuid();
  const uploadId = toId('upl', id);
  await tx.db
    .insertInto('contact_list_uploads')
    .values({
      workspace_id: tx.workspaceId,
      id,
      list_id: listId,
      file_name: uploadId,
      storage_key: `entries/${uploadId}`,
      status: sql`'processed'`,
      by_json: true,
      url_expires_at: now,
      processed_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute();
  return id;
}
