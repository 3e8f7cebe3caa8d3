import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { numberDigest } from '../../foundation/database/number-digest.ts';

/** A column or a parameter in SQL. */
type Value = RawBuilder<unknown>;

/** Uploads with numbers that are not called, by their UUIDs. */
export interface DoNotCallUploads {
  /** Those of which no number is called: of lists of the type `dnd`, and of those that a campaign names in this role. */
  all: string[];
  /** Those of a campaign's contacts, of which some numbers are not called, by the word of their rows. */
  some: string[];
}

/** SQL for the uploads `id` of ready lists that are processed and among these, and whether they are of `all` (`is_all`). */
const doNotCallUploads = (workspaceId: Value, campaignId?: Value) => {
  const ofList = sql`join contact_list_uploads u on u.workspace_id = ${workspaceId} and u.list_id = l.id and u.status = 'processed'`;
  const ofWorkspace = sql`
    select u.id, true as is_all from contact_lists l ${ofList}
    where l.workspace_id = ${workspaceId} and l.type = 'dnd' and l.status = 'ready'`;
  if (campaignId === undefined) return ofWorkspace;
  return sql`${ofWorkspace} union all
    select u.id, cl.role = 'dnd' from campaign_lists cl
    join contact_lists l on l.workspace_id = ${workspaceId} and l.id = cl.list_id and l.status = 'ready' ${ofList}
    where cl.workspace_id = ${workspaceId} and cl.campaign_id = ${campaignId} and (cl.role = 'dnd' or u.has_do_not_call)`;
};

/** SQL for the same as two arrays in one JSON object, a `DoNotCallUploads`. */
export const doNotCallUploadsAsJson = (workspaceId: Value, campaignId?: Value) => sql<DoNotCallUploads>`
  (select jsonb_build_object('all', coalesce(jsonb_agg(id) filter (where is_all), '[]'),
    'some', coalesce(jsonb_agg(id) filter (where not is_all), '[]'))
    from (${doNotCallUploads(workspaceId, campaignId)}) as d)`;

/** The same, asked by itself: of the whole workspace, or of one of its campaigns. */
export async function readDoNotCallUploads(tx: WorkspaceTx, campaignId?: string): Promise<DoNotCallUploads> {
  const campaign = campaignId === undefined ? undefined : sql`${campaignId}::uuid`;
  const { rows } = await sql<{ uploads: DoNotCallUploads }>`
    select ${doNotCallUploadsAsJson(sql`${tx.workspaceId}::uuid`, campaign)} as uploads`.execute(tx.db);
  return rows[0]!.uploads;
}

/**
 * SQL for the numbers that are not called and are there to be read, `phone_number` without the plus: the opt-outs, the
 * entries of `all`, and of `some` those that bear the word. Where there are no uploads PostgreSQL before 17 would look for
 * each number all the same, in every one of these.
 */
export const doNotCallNumbers = (workspaceId: Value, { all, some }: DoNotCallUploads) => {
  const among = (uploads: string[], condition: Value) =>
    uploads.length === 0
      ? sql``
      : sql` union all
    select phone_number from contact_list_entries
    where workspace_id = ${workspaceId} and upload_id = any(${uploads}::uuid[])${condition}`;
  return sql`
    select phone_number from do_not_call where workspace_id = ${workspaceId}
    ${among(all, sql``)} ${among(some, sql` and do_not_call`)}`;
};

/**
 * SQL for whether a number was not to be called when it was erased: then only its HMAC is there. A workspace without any is
 * asked once a statement, whatever the number. Where the connection has no key nobody can be told from these: none is called.
 */
export function isErasedDoNotCall(number: Value, workspaceId: Value): RawBuilder<boolean> {
  const digest = numberDigest(number, workspaceId);
  return sql<boolean>`
    (exists (select from do_not_call_erased where workspace_id = ${workspaceId}) and (${digest} is null or exists (
      select from do_not_call_erased where workspace_id = ${workspaceId} and digest = ${digest})))`;
}

/** SQL for whether a number is not called: one of these, or an erased one. */
export const isDoNotCall = (number: Value, workspaceId: Value, uploads: DoNotCallUploads) => sql<boolean>`
  (exists (select from (${doNotCallNumbers(workspaceId, uploads)}) as d where d.phone_number = ${number})
    or ${isErasedDoNotCall(number, workspaceId)})`;

/**
 * SQL for the same where nobody has read the uploads: those of the workspace and of a campaign, if there is one. They are
 * looked for as often as it is asked.
 */
export const isDoNotCallNow = (number: Value, workspaceId: Value, campaignId?: Value) => sql<boolean>`
  (exists (select from do_not_call where workspace_id = ${workspaceId} and phone_number = ${number})
    or exists (select from (${doNotCallUploads(workspaceId, campaignId)}) as d
      join contact_list_entries e on e.workspace_id = ${workspaceId} and e.upload_id = d.id and e.phone_number = ${number}
      where d.is_all or e.do_not_call)
    or ${isErasedDoNotCall(number, workspaceId)})`;

/** Which of some numbers, E.164 without the plus, the workspace doesn't call. */
export async function numbersNotCalled(tx: WorkspaceTx, phoneNumbers: readonly number[]): Promise<Set<number>> {
  const uploads = await readDoNotCallUploads(tx);
  const { rows } = await sql<{ phone_number: number }>`
    select n.phone_number from unnest(${phoneNumbers}::bigint[]) as n (phone_number)
    where ${isDoNotCall(sql.ref('n.phone_number'), sql`${tx.workspaceId}::uuid`, uploads)}`.execute(tx.db);
  return new Set(rows.map((row) => row.phone_number));
}
