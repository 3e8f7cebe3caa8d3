import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { numberDigest } from '../database/number-digest.ts';

/** A column or a parameter in SQL. */
type Value = RawBuilder<unknown>;

/**
 * SQL for the UUIDs of the uploads whose entries are not called: the processed ones of the workspace's ready lists of type
 * `dnd`, and of those that a campaign names in this role.
 */
export const doNotCallUploads = (workspaceId: Value, campaignId?: Value) => sql<{ id: string }>`
  select u.id from contact_list_uploads u
  join contact_lists l on l.workspace_id = u.workspace_id and l.id = u.list_id
  where u.workspace_id = ${workspaceId} and u.status = 'processed' and l.status = 'ready' and (l.type = 'dnd' ${
    campaignId === undefined
      ? sql``
      : sql`or exists (select from campaign_lists cl where cl.workspace_id = u.workspace_id
          and cl.campaign_id = ${campaignId} and cl.list_id = l.id and cl.role = 'dnd')`
  })`;

/** The same, asked by itself: of the whole workspace, or of one of its campaigns. */
export async function readDoNotCallUploads(tx: WorkspaceTx, campaignId?: string): Promise<string[]> {
  const campaign = campaignId === undefined ? undefined : sql`${campaignId}`;
  const { rows } = await doNotCallUploads(sql`${tx.workspaceId}`, campaign).execute(tx.db);
  return rows.map((row) => row.id);
}

/**
 * SQL for the numbers that are not called and are there to be read, `phone_number` without the plus: the opt-outs, and the
 * entries of `uploads`.
 */
export const doNotCallNumbers = (workspaceId: Value, uploads: Value) => sql`
  select phone_number from do_not_call where workspace_id = ${workspaceId}
  union all
  select phone_number from contact_list_entries
  where workspace_id = ${workspaceId} and upload_id = any(${uploads}::uuid[])`;

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
export const isDoNotCall = (number: Value, workspaceId: Value, uploads: Value) => sql<boolean>`
  (exists (select from (${doNotCallNumbers(workspaceId, uploads)}) as d where d.phone_number = ${number})
    or ${isErasedDoNotCall(number, workspaceId)})`;

/** Which of some numbers, E.164 without the plus, the workspace doesn't call. */
export async function numbersNotCalled(tx: WorkspaceTx, phoneNumbers: readonly number[]): Promise<Set<number>> {
  const uploads = sql`${await readDoNotCallUploads(tx)}`;
  const { rows } = await sql<{ phone_number: number }>`
    select n.phone_number from unnest(${phoneNumbers}::bigint[]) as n (phone_number)
    where ${isDoNotCall(sql.ref('n.phone_number'), sql`${tx.workspaceId}::uuid`, uploads)}`.execute(tx.db);
  return new Set(rows.map((row) => row.phone_number));
}
