import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { getsEvent, hasFeed } from './wanted-events.ts';

/** Who changed what, for the audit log. */
export interface AuditEntry {
  /** The key's UUID; nothing if a member did it, or a call's agent with the call's token. */
  keyId: string | null;
  /** The member's UUID, if a member did it. */
  memberId: string | null;
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
  auditEntry?: AuditEntry | undefined;
}

/**
 * Writes the event of a change, and its audit entry, in the transaction that makes them true. Streams are told of it after
 * the commit.
 */
export async function record(tx: WorkspaceTx, event: JournalEvent): Promise<void> {
  await recordAll(tx, [{ ...event, workspaceId: tx.workspaceId }]);
  if (event.auditEntry) await audit(tx, event.auditEntry, event.now);
}

/** An event of whatever workspace; its audit entry is left to the caller. */
export type WorkspaceEvent = Omit<JournalEvent, 'auditEntry'> & { workspaceId: string };

/** Writes the events of many changes at once. */
export async function recordAll(tx: Tx, events: readonly WorkspaceEvent[]): Promise<void> {
  if (events.length > 0) await sql`with ${recording(tx, events)} select`.execute(tx.db);
}

/**
 * What writes events, as common table expressions of a statement: `event` and `event_to_hand_over`. Events that webhook
 * endpoints want, or the workspace's feed, are noted, with these endpoints, until they are handed over; only streams tell how
 * far an upload has been read.
 */
export function recording(tx: Tx, events: readonly WorkspaceEvent[]): RawBuilder<unknown> {
  // Nobody waits yet for what is new.
  for (const { resourceId, revision } of events) if (revision > 1) tx.tell(resourceId);
  const rows = events.map((event) => ({
    workspace_id: event.workspaceId,
    resource_id: event.resourceId,
    revision: event.revision,
    id: newUuid(),
    type: event.type,
    data: event.data,
    created_at: event.now,
  }));
  return sql`
    event as (
      insert into events (workspace_id, resource_id, revision, id, type, data, created_at)
      select x.* from json_to_recordset(${JSON.stringify(rows)}::json) as x (workspace_id uuid, resource_id uuid,
        revision bigint, id uuid, type text, data jsonb, created_at timestamptz)
      returning workspace_id, resource_id, revision, type, data),
    event_to_hand_over as (
      insert into events_to_hand_over (workspace_id, resource_id, revision, webhook_ids)
      select e.workspace_id, e.resource_id, e.revision, coalesce(w.ids, '{}') from event e cross join lateral (
        select array_agg(id) as ids from webhooks
        where workspace_id = e.workspace_id and ${getsEvent(sql`e.type`, sql`e.data`)}) w
      where e.type <> 'upload.progress' and (w.ids is not null or ${hasFeed(sql`e.workspace_id`)}))`;
}

/** Writes the audit entries of changes that have no event of their own. */
export async function audit(tx: WorkspaceTx, entries: AuditEntry | readonly AuditEntry[], now: Date): Promise<void> {
  const all = [entries].flat();
  if (all.length > 0) await auditing(tx.workspaceId, all, now).execute(tx.db);
}

/** The statement that writes audit entries; it may be part of another one. */
export function auditing(workspaceId: string, entries: readonly AuditEntry[], now: Date): RawBuilder<unknown> {
  const rows = entries.map((entry) => ({
    workspace_id: workspaceId,
    id: newUuid(),
    key_id: entry.keyId,
    member_id: entry.memberId,
    action: entry.action,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    address: entry.address,
    request_id: entry.requestId,
    created_at: now,
  }));
  return sql`
    insert into audit_log select * from json_populate_recordset(null::audit_log, ${JSON.stringify(rows)}::json)`;
}
