import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import { seedUploadedList } from './list.ts';
import { type Given, insertRows, ROWS_AT_ONCE, seedRow, seedRows } from './rows.ts';
import { type SeededNumber, withTrunks } from './trunk.ts';
import { seedWorkspace } from './workspace.ts';

export interface SeededCampaign {
  workspaceId: string;
  campaignId: string;
  listId: string;
  uploadId: string;
}

export interface SeedOptions {
  contacts: number;
  /** E.164 digits of contact i, from 0. Default: 14152000000 + i. */
  number?: (i: number) => number;
  timezone?: (i: number) => string | null;
  campaign?: Given<'campaigns'>;
  workspaceId?: string;
  workspace?: Given<'workspaces'>;
  phoneNumber?: SeededNumber;
}

/** A running campaign over a list of contacts, written straight into the database, its contacts still to be added. */
export async function seedCampaign(database: Database, options: SeedOptions): Promise<SeededCampaign> {
  const { contacts, number = (i) => 14_152_000_000 + i, timezone = () => null } = options;
  const workspaceId = options.workspaceId ?? (await seedWorkspace(database, options.workspace));
  const workspace = { workspace_id: workspaceId };
  const [caller] = await database.inEngine(async ({ db }) =>
    insertRows(db, 'phone_numbers', await withTrunks(db, [{ ...workspace, ...options.phoneNumber }])),
  );
  const phoneNumberId = caller!.id;
  const list = { columns: ['city'], total_entries: contacts };
  const { listId, uploadId } = await seedUploadedList(database, workspaceId, [], { list });
  const entry = { ...workspace, upload_id: uploadId, name: 'Ada', values: ['Berlin'] };
  for (let from = 0; from < contacts; from += ROWS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(ROWS_AT_ONCE, contacts - from) }, (_, i) => from + i);
    const entries = numbers.map((i) => ({
      ...entry,
      phone_number: number(i),
      row_number: i + 2,
      timezone: timezone(i),
    }));
    await seedRows(database, 'contact_list_entries', entries);
  }
  const adding = { phone_number_id: phoneNumberId, adding_uploads: [uploadId] };
  const { id: campaignId } = await seedRow(database, 'campaigns', { ...workspace, ...adding, ...options.campaign });
  await seedRow(database, 'campaign_lists', { ...workspace, campaign_id: campaignId, list_id: listId });
  return { workspaceId, campaignId, listId, uploadId };
}

/**
 * A running campaign whose contacts stand in its table already, the first of them done; no statistics are taken. They
 * are made in the database, for there may be a million.
 */
export async function seedContacts(database: Database, contacts: number, done: number): Promise<SeededCampaign> {
  const campaign = await seedCampaign(database, { contacts: 0, campaign: { contacts_added: true, status: 'paused' } });
  const { workspaceId, campaignId, listId } = campaign;
  await database.inEngine(({ db }) =>
    sql`
      insert into campaign_contacts
        (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state, next_attempt_at)
      select ${workspaceId}, ${campaignId}, gen_random_uuid(), ${listId}, 14152000000 + i, 'Ada', array['Berlin'],
        1 + i % 3, case when i <= ${done}::int then 'done' else 'pending' end, '2026-03-10T12:00:00Z'
      from generate_series(1, ${contacts}::int) as i`.execute(db),
  );
  return campaign;
}
