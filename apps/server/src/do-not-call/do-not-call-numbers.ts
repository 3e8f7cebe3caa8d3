import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';

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

/** SQL for all numbers that are not called, `phone_number` without the plus: the opt-outs, and the entries of `uploads`. */
export const doNotCallNumbers = (workspaceId: Value, uploads: Value) => sql`
  select phone_number from do_not_call where workspace_id = ${workspaceId}
  union all
  select phone_number from contact_list_entries
  where workspace_id = ${workspaceId} and upload_id = any(${uploads}::uuid[])`;

/** SQL for whether a number is one of these. */
export const isDoNotCall = (number: Value, workspaceId: Value, uploads: Value) => sql<boolean>`
  exists (select from (${doNotCallNumbers(workspaceId, uploads)}) as d where d.phone_number = ${number})`;

/** Which of some numbers, E.164 without the plus, the workspace doesn't call. */
export async function numbersNotCalled(tx: WorkspaceTx, phoneNumbers: readonly number[]): Promise<Set<number>> {
  const uploads = sql`${await readDoNotCallUploads(tx)}`;
  const { rows } = await sql<{ phone_number: number }>`
    select phone_number from (${doNotCallNumbers(sql`${tx.workspaceId}`, uploads)}) as d
    where phone_number = any(${phoneNumbers}::bigint[])`.execute(tx.db);
  return new Set(rows.map((row) => row.phone_number));
}
