import { type Insertable, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import { together } from '../../foundation/database/together.ts';
import { zonesKey, zonesOfContact } from '../calls/zones-of-contact.ts';
import { lanesOf } from './lanes.ts';

/** A contact of a batch. */
export interface BatchContact {
  /** UUID. */
  id: string;
  /** E.164 without the plus. */
  toNumber: number;
  name: string | null;
  externalId: string | null;
  /** Its own, where the recipient says one. */
  timezone: string | null;
  metadata: Record<string, string> | null;
}

type BatchSettings = Omit<
  Insertable<Schema['campaigns']>,
  'workspace_id' | 'kind' | 'direction' | 'contacts_added' | 'total_contacts' | 'pending' | 'created_at' | 'updated_at'
>;

/**
 * Writes a campaign of kind `batch` with all its contacts, each number once. From then on it is claimed from like
 * every other.
 * @param listId the UUID of the list that holds the same numbers
 */
export async function insertBatch(
  tx: WorkspaceTx,
  settings: BatchSettings,
  { listId, contacts, now }: { listId: string; contacts: readonly BatchContact[]; now: Date },
): Promise<void> {
  const { workspaceId, db } = tx;
  const { id } = settings;
  const count = contacts.length;
  await db
    .insertInto('campaigns')
    .values({
      ...settings,
      workspace_id: workspaceId,
      kind: 'batch',
      direction: 'outbound',
      contacts_added: true,
      total_contacts: count,
      pending: count,
      created_at: now,
      updated_at: now,
    })
    .execute();
  const rule = settings.callee_time_zone ?? 'strictest';
  const zones = contacts.map(({ timezone, toNumber }) => zonesOfContact(rule, timezone, toNumber));
  const laneOf = await lanesOf(tx, { workspaceId, campaignId: id }, zones);
  const rows = contacts.map(({ timezone, ...contact }, at) => ({ ...contact, lane: laneOf.get(zonesKey(zones[at]!)) }));
  await together(tx, [
    () =>
      db
        .insertInto('campaign_lists')
        .values({ workspace_id: workspaceId, campaign_id: id, list_id: listId, role: 'contacts' })
        .execute(),
    sql`
      insert into campaign_contacts
        (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state, next_attempt_at, external_id,
          metadata)
      select ${workspaceId}, ${id}, x.id, ${listId}, x."toNumber", x.name, '{}', x.lane, 'pending', ${now},
        x."externalId", x.metadata
      from json_to_recordset(${JSON.stringify(rows)}) as x (id uuid, "toNumber" bigint, name text, lane smallint,
        "externalId" text, metadata jsonb)`,
  ]);
}
