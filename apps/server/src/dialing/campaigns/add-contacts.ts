import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { zonesKey, zonesOfContact } from '../calls/zones-of-contact.ts';
import type { CampaignKey } from './campaign.ts';
import { lanesOf } from './lanes.ts';
import { relaneContacts } from './relane-contacts.ts';

/** Entries that one transaction adds (dialing.md, "Claims"). */
const CHUNK_SIZE = 20_000;

interface AddingRow
  extends Pick<Row<'campaigns'>, 'adding_uploads' | 'adding_after_row' | 'callee_time_zone' | 'relaning_after'> {
  /** Contacts that it has already. */
  taken: number;
}

/** SQL for the contacts that a campaign has, in whichever state. */
const taken = sql<number>`pending + waiting + in_flight + done + skipped`;

/**
 * Adds the next chunk of a started campaign's contacts from its lists' entries; a number that is there already stays
 * once. An advisory lock keeps other servers out, so that the campaign's row is locked only for the moment in which
 * the chunk is counted, and dialing goes on. Answers whether it did something: its workspace may have more to add.
 */
export async function addContacts(database: Database, campaign: CampaignKey, now: Date): Promise<boolean> {
  const added = await addChunk(database, campaign, now);
  if (added.changesStatistics) await refreshStatistics(database);
  return added.isSomething;
}

/** The claim's plan rests on statistics; autovacuum may come a minute after a million contacts have. */
async function refreshStatistics(database: Database): Promise<void> {
  await database.inEngine(({ db }) => sql`analyze campaign_contacts`.execute(db));
}

interface AddedChunk {
  isSomething: boolean;
  /** Whether it was the first or the last of many. */
  changesStatistics: boolean;
}

const nothing: AddedChunk = { isSomething: false, changesStatistics: false };

async function addChunk(database: Database, { workspaceId, campaignId }: CampaignKey, now: Date): Promise<AddedChunk> {
  return database.inEngine(async (tx) => {
    const lock = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${campaignId}, 0)) as locked`.execute(tx.db);
    if (!lock.rows[0]!.locked) return nothing;
    const campaign = await sql<AddingRow>`
      select adding_uploads, adding_after_row, callee_time_zone, relaning_after, ${taken} as taken
      from campaigns
      where workspace_id = ${workspaceId} and id = ${campaignId} and status in ('running', 'paused')
        and not contacts_added`.execute(tx.db);
    const row = campaign.rows[0];
    if (!row) return nothing;
    if (row.relaning_after !== null) {
      const terms = { rule: row.callee_time_zone, after: row.relaning_after, now };
      await relaneContacts(tx, { workspaceId, campaignId }, terms);
      return { isSomething: true, changesStatistics: false };
    }

    const upload = row.adding_uploads[0];
    const entries =
      upload === undefined
        ? []
        : (
            await sql<{ row_number: number; phone_number: number; timezone: string | null }>`
              select row_number, phone_number, timezone from contact_list_entries
              where workspace_id = ${workspaceId} and upload_id = ${upload} and row_number > ${row.adding_after_row}
              order by row_number limit ${sql.raw(String(CHUNK_SIZE))}`.execute(tx.db)
          ).rows;
    let added = 0;
    if (entries.length > 0) {
      const zones = entries.map((entry) => zonesOfContact(row.callee_time_zone, entry.timezone, entry.phone_number));
      const laneOf = await lanesOf(tx, { workspaceId, campaignId }, zones);
      const lanes = zones.map((each) => laneOf.get(zonesKey(each))!);
      // An entry may have been erased since it was read: what was found out of each goes by its row.
      const inserted = await sql`
        insert into campaign_contacts
          (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state, next_attempt_at)
        select e.workspace_id, ${campaignId}, x.id, u.list_id, e.phone_number, e.name, e.values, x.lane, 'pending', ${now}
        from unnest(${entries.map((entry) => entry.row_number)}::integer[], ${entries.map(() => newUuid())}::uuid[],
            ${lanes}::smallint[]) as x (row_number, id, lane)
          join contact_list_entries e on e.row_number = x.row_number
          join contact_list_uploads u on u.workspace_id = e.workspace_id and u.id = e.upload_id
        where e.workspace_id = ${workspaceId} and e.upload_id = ${upload!}
          and e.row_number > ${row.adding_after_row} and e.row_number <= ${entries.at(-1)!.row_number}
        order by e.row_number
        on conflict (workspace_id, phone_number, campaign_id) do nothing`.execute(tx.db);
      added = Number(inserted.numAffectedRows ?? 0n);
    }

    const uploadIsRead = entries.length < CHUNK_SIZE;
    const uploads = uploadIsRead ? row.adding_uploads.slice(1) : row.adding_uploads;
    const done = uploads.length === 0;
    // The start has counted each entry of each list.
    const total = done ? sql`${taken} + ${added}` : sql`total_contacts - ${entries.length - added}`;
    await sql`
      update campaigns set total_contacts = ${total}, pending = pending + ${added}, contacts_added = ${done},
        adding_uploads = ${uploads}, adding_after_row = ${uploadIsRead ? 0 : entries.at(-1)!.row_number},
        next_claim_at = 'epoch', revision = revision + 1
      where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
    tx.tell(campaignId);
    const isLarge = row.taken + added >= CHUNK_SIZE;
    return { isSomething: true, changesStatistics: isLarge && (done || row.taken === 0) };
  });
}
