import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { newUuid } from '../ids.ts';

/** Who changed what with a key, for the audit log. */
export interface AuditEntry {
  /** The key's UUID. */
  keyId: string;
  /** The resource's type and what became of it, such as `phone_number.released`. */
  action: string;
  resourceType: string;
  /** As clients see it: a prefixed ID, or a phone number. */
  resourceId: string;
  address: string;
  requestId: string;
}

export interface JournalEvent {
  /** UUID of the resource that changed. */
  resourceId: string;
  /** The resource's revision after the change, raised under its row lock. It is the event's ID in streams. */
  revision: number;
  type: string;
  /** The resource as it is now. No signed URLs: they end before the event does. */
  data: object;
  now: Date;
  /** Set where a key made the change. */
  actor?: AuditEntry | undefined;
}

/** Writes the event of a change, and its audit entry, in the transaction that makes them true. */
export async function record(tx: WorkspaceTx, event: JournalEvent): Promise<void> {
  await tx.db
    .insertInto('events')
    .values({
      workspace_id: tx.workspaceId,
      resource_id: event.resourceId,
      revision: event.revision,
      id: newUuid(),
      type: event.type,
      data: JSON.stringify(event.data),
      created_at: event.now,
      hand_over_to: endpointsFor(tx.workspaceId, event.type),
    })
    .execute();
  if (event.actor) await audit(tx, event.actor, event.now);
}

/** The webhook endpoints that want events of a type, as an event keeps them until it is handed over; null where none does. */
const endpointsFor = (workspaceId: string, type: string): RawBuilder<string[] | null> =>
  sql`(select array_agg(id) from webhooks
    where workspace_id = ${workspaceId} and status = 'enabled' and ${type} = any(event_types))`;

/** Writes the audit entries of changes that have no event of their own. */
export async function audit(tx: WorkspaceTx, entries: AuditEntry | readonly AuditEntry[], now: Date): Promise<void> {
  const rows = [entries].flat().map((entry) => ({
    workspace_id: tx.workspaceId,
    id: newUuid(),
    key_id: entry.keyId,
    action: entry.action,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    address: entry.address,
    request_id: entry.requestId,
    created_at: now,
  }));
  if (rows.length > 0) await tx.db.insertInto('audit_log').values(rows).execute();
}
