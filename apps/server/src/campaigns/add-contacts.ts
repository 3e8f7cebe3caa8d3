import { sql } from 'kysely';
import type { CampaignKey } from '../calls/call-owner.ts';
import type { Database } from '../database/database.ts';
import { newUuid } from '../ids.ts';
import { lanesOf } from './lanes.ts';

/** Entries that one transaction adds (engine.md, "Claims"). */
const CHUNK_SIZE = 20_000;

interface AddingRow {
  timezone: string;
  adding_uploads: string[];
  adding_after_row: number;
}

/**
 * Adds the next chunk of a started campaign's contacts from its lists' entries; a number that is there already stays
 * once. An advisory lock keeps other servers out, so that the campaign's row is locked only for the moment in which
 * the chunk is counted, and dialing goes on. Answers whether there may be more to add.
 */
export async function addContacts(database: Database, { workspaceId, campaignId }: CampaignKey, now: Date): Promise<boolean> {
  return database.inEngine(async (tx) => {
    const lock = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${campaignId}, 0)) as locked`.execute(tx.db);
    if (!lock.rows[0]!.locked) return false;
    const campaign = await sql<AddingRow>`
      select timezone, adding_uploads, adding_after_row from campaigns
      where workspace_id = ${workspaceId} and id = ${campaignId} and status in ('running', 'paused')
        and not contacts_added`.execute(tx.db);
    const row = campaign.rows[0];
    if (!row) return false;

    const upload = row.adding_uploads[0];
    const entries =
      upload === undefined
        ? []
        : (
            await sql<{ row_number: number; timezone: string | null }>`
              select row_number, timezone from contact_list_entries
              where workspace_id = ${workspaceId} and upload_id = ${upload} and row_number > ${row.adding_after_row}
              order by row_number limit ${sql.raw(String(CHUNK_SIZE))}`.execute(tx.db)
          ).rows;
    let added = 0;
    if (entries.length > 0) {
      const zones = entries.map((entry) => entry.timezone ?? row.timezone);
      const lanes = await lanesOf(tx, { workspaceId, campaignId }, [...new Set(zones)]);
      const inserted = await sql`
        insert into campaign_contacts
          (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state, next_attempt_at)
        select e.workspace_id, ${campaignId}, x.id, u.list_id, e.phone_number, e.name, e.values, x.lane, 'pending', ${now}
        from unnest(${entries.map((entry) => entry.row_number)}::integer[], ${entries.map(() => newUuid())}::uuid[],
            ${zones.map((zone) => lanes.get(zone)!)}::smallint[]) as x (row_number, id, lane)
          join contact_list_entries e on e.workspace_id = ${workspaceId} and e.upload_id = ${upload!}
            and e.row_number = x.row_number
          join contact_list_uploads u on u.workspace_id = e.workspace_id and u.id = e.upload_id
        on conflict (workspace_id, campaign_id, phone_number) do nothing`.execute(tx.db);
      added = Number(inserted.numAffectedRows ?? 0n);
    }

    const uploadIsRead = entries.length < CHUNK_SIZE;
    const uploads = uploadIsRead ? row.adding_uploads.slice(1) : row.adding_uploads;
    const done = uploads.length === 0;
    await sql`
      update campaigns set
        total_contacts = total_contacts + ${added}, pending = pending + ${added}, contacts_added = ${done},
        adding_uploads = ${uploads}, adding_after_row = ${uploadIsRead ? 0 : entries.at(-1)!.row_number},
        next_claim_at = 'epoch', revision = revision + 1
      where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
    return !done;
  });
}
