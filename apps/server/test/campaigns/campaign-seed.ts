import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';
import type { AuditEntry } from '../../src/journal/record.ts';

/** A workspace of its own. */
export async function seedWorkspace(database: Database, now = new Date()): Promise<string> {
  const id = newUuid();
  await database.inEngine((tx) =>
    tx.db.insertInto('workspaces').values({ id, name: id, created_at: now, updated_at: now }).execute(),
  );
  return id;
}

/** A number of the simulator's that can place calls. */
export async function seedNumber(
  database: Database,
  workspaceId: string,
  phoneNumber: string,
  given: {
    status?: 'active' | 'suspended';
    provider?: 'simulator' | 'sip';
    trunk_valid?: boolean;
    countries?: string[];
  } = {},
): Promise<string> {
  const { countries = [], status = 'active', provider = 'simulator', trunk_valid = null } = given;
  const [id, now] = [newUuid(), new Date()];
  await database.inWorkspace(workspaceId, (tx) =>
    tx.db
      .insertInto('phone_numbers')
      .values({
        workspace_id: workspaceId,
        id,
        phone_number: phoneNumber,
        country: 'US',
        status,
        provider,
        trunk_valid,
        allowed_outbound_countries: countries,
        created_at: now,
        updated_at: now,
      })
      .execute(),
  );
  return id;
}

export interface SeededEntry {
  phone_number: number;
  name?: string;
  timezone?: string;
  values?: (string | null)[];
}

/** A contact list, ready with these entries unless said otherwise. Answers its UUID. */
export async function seedList(
  database: Database,
  workspaceId: string,
  entries: SeededEntry[],
  given: { type?: 'contacts' | 'dnd'; status?: 'draft' | 'ready' | 'archived'; columns?: string[] } = {},
): Promise<string> {
  const { type = 'contacts', status = 'ready', columns = [] } = given;
  const [id, now] = [newUuid(), new Date()];
  await database.inWorkspace(workspaceId, async (tx) => {
    await tx.db
      .insertInto('contact_lists')
      .values({
        workspace_id: workspaceId,
        id,
        name: 'People',
        type,
        status,
        columns,
        total_entries: entries.length,
        created_at: now,
        updated_at: now,
      })
      .execute();
    await seedUpload(tx, id, entries);
  });
  return id;
}

async function seedUpload(tx: WorkspaceTx, listId: string, entries: SeededEntry[]): Promise<void> {
  const [id, now] = [newUuid(), new Date()];
  await tx.db
    .insertInto('contact_list_uploads')
    .values({
      workspace_id: tx.workspaceId,
      id,
      list_id: listId,
      file_name: 'people.csv',
      storage_key: id,
      status: 'processed',
      url_expires_at: now,
      processed_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute();
  if (entries.length === 0) return;
  await tx.db
    .insertInto('contact_list_entries')
    .values(
      entries.map((entry, at) => ({
        workspace_id: tx.workspaceId,
        upload_id: id,
        phone_number: entry.phone_number,
        row_number: at + 2,
        name: entry.name ?? null,
        timezone: entry.timezone ?? null,
        values: entry.values ?? [],
      })),
    )
    .execute();
}

/** Stops, or lets go on, all dialing of a workspace. */
export async function setKillSwitch(database: Database, workspaceId: string, at: Date | null): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`update workspaces set dialing_paused_at = ${at} where id = ${workspaceId}`.execute(db),
  );
}

/** The audit entry of some key. */
export const byTest = (resourceId: string): AuditEntry => ({
  keyId: '00000000-0000-0000-0000-000000000000',
  action: 'campaign.test',
  resourceType: 'campaign',
  resourceId,
  address: '',
  requestId: '',
});
