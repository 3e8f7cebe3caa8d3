import { type RawBuilder, sql } from 'kysely';
import { NIL } from 'uuid';
import type { EngineTx } from '../../foundation/database/database.ts';
import { numberDigest } from '../../foundation/database/number-digest.ts';
import { keepNumberCheck } from '../../platform/do-not-call/store.ts';
import type { ErasureDeps } from './deps.ts';
import type { RunningErasure } from './erasure.ts';
import { goOn, type Outcome } from './outcome.ts';

const UPLOADS_AT_ONCE = 5000;
const MOST_CONTACTS = 1000;
const FILES_AT_ONCE = 10;

/** Keeps campaigns that are just taking their contacts from lists from taking any until the transaction ends. */
async function holdAdding(tx: EngineTx, workspaceId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from campaigns where workspace_id = ${workspaceId} and status in ('running', 'paused')
      and not contacts_added order by id`.execute(tx.db);
  for (const { id } of rows) await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(tx.db);
}

/** Whether an upload that was created before the erasure is being read. One that is created later is a new wish. */
export async function isBeingRead(
  tx: EngineTx,
  { workspace_id: workspaceId, created_at }: RunningErasure,
): Promise<boolean> {
  const { rows } = await sql`
    select from contact_list_uploads where workspace_id = ${workspaceId} and created_at <= ${created_at}
      and status in ('uploaded', 'validating') limit 1`.execute(tx.db);
  return rows.length > 0;
}

/** Such uploads that are still to be read, or are being read. */
async function unreadUploads(tx: EngineTx, { workspace_id: workspaceId, created_at }: RunningErasure) {
  const { rows } = await sql<{ id: string }>`
    select id from contact_list_uploads where workspace_id = ${workspaceId} and created_at <= ${created_at}
      and status in ('pending', 'uploaded', 'validating')`.execute(tx.db);
  return rows.map(({ id }) => id);
}

/** Whether one of them was read since the tables were looked through from the first: it may have brought the person. */
export async function wasRead(tx: EngineTx, { workspace_id: workspaceId, unread }: RunningErasure): Promise<boolean> {
  const { rows } = await sql`
    select from unnest(${unread ?? []}::uuid[]) as was (id) where not exists (
      select from contact_list_uploads u where u.workspace_id = ${workspaceId} and u.id = was.id
        and u.status in ('pending', 'uploaded', 'validating', 'failed', 'expired')) limit 1`.execute(tx.db);
  return rows.length > 0;
}

/** Whether a file of such an upload is there that nobody has been told of yet; nothing where the store doesn't say. */
export async function isFileUntold(
  { database, objects, log }: Pick<ErasureDeps, 'database' | 'objects' | 'log'>,
  { workspace_id: workspaceId, created_at }: RunningErasure,
): Promise<boolean | undefined> {
  for (let after: string = NIL; ; ) {
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ id: string; storage_key: string }>`
        select id, storage_key from contact_list_uploads
        where workspace_id = ${workspaceId} and status = 'pending' and created_at <= ${created_at} and id > ${after}
        order by id limit ${sql.lit(FILES_AT_ONCE)}`.execute(db),
    );
    try {
      const found = await Promise.all(rows.map(({ storage_key }) => objects.stat(storage_key)));
      if (found.some((file) => file !== undefined)) return true;
    } catch (error) {
      log.warn({ err: error }, 'a contact file could not be looked for; it is tried again');
      return undefined;
    }
    if (rows.length < FILES_AT_ONCE) return false;
    after = rows.at(-1)!.id;
  }
}

/**
 * Takes a number off all lists, some uploads at a time. First of all it is kept as an HMAC where it is not to be called: so
 * there is no moment at which it would be.
 */
export async function eraseEntries(tx: EngineTx, erasure: RunningErasure, now: Date): Promise<Outcome> {
  const { workspace_id: workspaceId, phone_number: number, place } = erasure;
  const begun = place ? {} : { unread: await unreadUploads(tx, erasure) };
  await holdAdding(tx, workspaceId);
  if (!place) await keepDoNotCall(tx, erasure, now);
  const { rows: uploads } = await sql<{ id: string }>`
    select id from contact_list_uploads where workspace_id = ${workspaceId} and id > ${place?.[0] ?? NIL}
    order by id limit ${sql.lit(UPLOADS_AT_ONCE)}`.execute(tx.db);
  const theirs = sql`workspace_id = ${workspaceId} and upload_id = any(${uploads.map(({ id }) => id)}::uuid[])
    and phone_number = ${number}`;
  if (!(await lockLists(tx, workspaceId, theirs)))
    return { ...begun, next: 'wait', waitsFor: 'upload', goesOn: 'here' };
  const { rows: gone } = await sql<{ upload_id: string }>`
    delete from contact_list_entries where ${theirs} returning upload_id`.execute(tx.db);
  const from = gone.map((row) => row.upload_id);
  await sql`
    update contact_list_uploads set valid_rows = valid_rows - 1
    where workspace_id = ${workspaceId} and id = any(${from}::uuid[])
      and status in ('validating', 'validated', 'processing')`.execute(tx.db);
  await sql`
    update contact_lists l set total_entries = l.total_entries - u.entries
    from (select list_id, count(*) as entries from contact_list_uploads
      where workspace_id = ${workspaceId} and id = any(${from}::uuid[]) and status = 'processed' group by list_id) as u
    where l.workspace_id = ${workspaceId} and l.id = u.list_id`.execute(tx.db);
  const last = uploads.length === UPLOADS_AT_ONCE ? uploads.at(-1) : undefined;
  return { ...begun, counts: { entries: gone.length }, ...goOn(last && [last.id]) };
}

/** Locks the lists of entries. An import into such a list counts its rows under this lock: answers false while one does. */
async function lockLists(tx: EngineTx, workspaceId: string, entries: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql<{ found: number; locked: number }>`
    with found as materialized (
        select distinct list_id from contact_list_uploads where workspace_id = ${workspaceId}
          and id in (select upload_id from contact_list_entries where ${entries})),
      locked as materialized (
        select id from contact_lists where workspace_id = ${workspaceId} and id in (select list_id from found)
        order by id for no key update skip locked)
    select (select count(*) from found) as found, (select count(*) from locked) as locked`.execute(tx.db);
  return rows[0]!.found === rows[0]!.locked;
}

async function keepDoNotCall(
  tx: EngineTx,
  { workspace_id: workspaceId, phone_number: number }: RunningErasure,
  now: Date,
) {
  await sql`
    insert into do_not_call_erased (workspace_id, digest, created_at)
    select ${workspaceId}, ${numberDigest(sql`${number}::bigint`, sql`${workspaceId}::uuid`)}, ${now}
    where exists (select from do_not_call where workspace_id = ${workspaceId} and phone_number = ${number})
      or exists (select from contact_lists l
        join contact_list_uploads u on u.workspace_id = l.workspace_id and u.list_id = l.id
        join contact_list_entries e on e.workspace_id = u.workspace_id and e.upload_id = u.id
          and e.phone_number = ${number}
        where l.workspace_id = ${workspaceId} and (l.type = 'dnd' or e.do_not_call))
    on conflict do nothing`.execute(tx.db);
  await keepNumberCheck(tx);
  await sql`
    delete from do_not_call where workspace_id = ${workspaceId} and phone_number = ${number}`.execute(tx.db);
}

/** A contact whose state is counted on its campaign's row. */
interface ContactRow {
  campaign_id: string;
  id: string;
  state: 'pending' | 'waiting' | 'dialing' | 'done' | 'skipped';
}

/** Takes a number out of all campaigns and batches; what they count follows. */
export async function eraseContacts(tx: EngineTx, erasure: RunningErasure): Promise<Outcome> {
  const { workspace_id: workspaceId, phone_number: number } = erasure;
  await holdAdding(tx, workspaceId);
  await sql`
    select from campaigns where workspace_id = ${workspaceId} and id in (
      select campaign_id from campaign_contacts where workspace_id = ${workspaceId} and phone_number = ${number})
    order by id for no key update`.execute(tx.db);
  const { rows } = await sql<ContactRow>`
    delete from campaign_contacts where ctid = any(array(
      select ctid from campaign_contacts
      where workspace_id = ${workspaceId} and phone_number = ${number} and state <> 'dialing'
      limit ${sql.lit(MOST_CONTACTS)} for update))
    returning campaign_id, id, state`.execute(tx.db);
  await sql`
    update campaigns c set pending = c.pending - x.pending, waiting = c.waiting - x.waiting, done = c.done - x.done,
      skipped = c.skipped - x.skipped, total_contacts = c.total_contacts - x.total, next_claim_at = 'epoch',
      revision = c.revision + 1
    from (select campaign_id, count(*) as total, count(*) filter (where state = 'pending') as pending,
        count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'done') as done,
        count(*) filter (where state = 'skipped') as skipped
      from json_to_recordset(${JSON.stringify(rows)}::json) as r (campaign_id uuid, state text) group by campaign_id) as x
    where c.workspace_id = ${workspaceId} and c.id = x.campaign_id`.execute(tx.db);
  for (const id of new Set(rows.map((row) => row.campaign_id))) tx.tell(id);
  if (rows.length === 0 && (await isDialed(tx, erasure))) return { next: 'wait', waitsFor: 'call', goesOn: 'here' };
  return { next: rows.length > 0 ? 'again' : 'step', counts: { contacts: rows.length } };
}

async function isDialed(tx: EngineTx, { workspace_id: workspaceId, phone_number: number }: RunningErasure) {
  const { rows } = await sql`
    select from campaign_contacts where workspace_id = ${workspaceId} and phone_number = ${number} limit 1`.execute(
    tx.db,
  );
  return rows.length > 0;
}
