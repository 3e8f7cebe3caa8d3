import { sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';

/** A call to commit before anything is placed. */
export interface QueuedCall {
  roomId: string;
  contactId: string;
  /** The callee, E.164 without the plus. */
  toNumber: number;
  fromNumber: number;
  /** UUID of the number that it is placed from. */
  phoneNumberId: string;
  provider: string;
  simulated: boolean;
  /** Whether it counts on its number's usage. */
  pooled: boolean;
  attempt: number;
  startAt: Date;
  placeBefore: Date;
  metadata: Record<string, string>;
}

/** What the calls of one batch have in common. */
export interface QueuedBatch {
  workspaceId: string;
  campaignId: string;
  serverId: string;
  agentId: string;
  ringTimeoutSeconds: number;
  maxCallSeconds: number;
  now: Date;
}

/**
 * Commits outbound calls as `queued`, held by a server. Answers with the contacts whose call was made; the others are
 * on a live call already, of whichever campaign (one live call a person). They go in by number, so that two campaigns
 * that call the same people at once don't deadlock. Those that are `pooled` are counted by the caller then.
 */
export async function queueCalls(tx: EngineTx, batch: QueuedBatch, calls: QueuedCall[]): Promise<Set<string>> {
  const { rows } = await sql<{ contact_id: string }>`
    insert into calls (workspace_id, id, status, direction, simulated, from_number, to_number, agent_id,
      phone_number_id, pooled, campaign_id, contact_id, attempt, server_id, start_at, place_before, ring_timeout_seconds,
      max_call_seconds, metadata, queued_at)
    select ${batch.workspaceId}, x.id, 'queued', 'outbound', x.simulated, x.from_number, x.to_number,
      ${batch.agentId}, x.phone_number_id, x.pooled, ${batch.campaignId}, x.contact_id, x.attempt, ${batch.serverId},
      x.start_at, x.place_before, ${batch.ringTimeoutSeconds}, ${batch.maxCallSeconds}, x.metadata, ${batch.now}
    from unnest(${calls.map((call) => call.roomId)}::uuid[], ${calls.map((call) => call.contactId)}::uuid[],
      ${calls.map((call) => call.toNumber)}::bigint[], ${calls.map((call) => call.fromNumber)}::bigint[],
      ${calls.map((call) => call.phoneNumberId)}::uuid[], ${calls.map((call) => call.simulated)}::boolean[],
      ${calls.map((call) => call.pooled)}::boolean[], ${calls.map((call) => call.attempt)}::smallint[],
      ${calls.map((call) => call.startAt)}::timestamptz[], ${calls.map((call) => call.placeBefore)}::timestamptz[],
      ${calls.map((call) => JSON.stringify(call.metadata))}::jsonb[])
      as x (id, contact_id, to_number, from_number, phone_number_id, simulated, pooled, attempt, start_at, place_before,
        metadata)
    order by x.to_number
    on conflict (workspace_id, to_number, (case when direction = 'inbound' then id end)) where ended_at is null
    do nothing
    returning contact_id`.execute(tx.db);
  return new Set(rows.map((row) => row.contact_id));
}
