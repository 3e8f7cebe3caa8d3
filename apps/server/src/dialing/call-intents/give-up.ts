import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import type { RecordCallEvents } from '../calls/call-events.ts';
import { INTENT, type IntentKey } from './intent.ts';

/** How a call ends that was never placed, as far as the database knows. */
export interface Unplaced {
  status: 'cancelled' | 'failed';
  outcome: 'cancelled' | 'do_not_call' | 'invalid_number' | 'unknown';
  /** Why it was not placed in time, in SQL of the intent `i`; null where that is not why. */
  reason: RawBuilder<unknown>;
  /** When it was placed all the same, in SQL of the intent `i`. */
  dialedAt?: RawBuilder<unknown>;
}

/** By its client, or by what holds for its callee. */
export const withdrawn: Unplaced = { status: 'cancelled', outcome: 'cancelled', reason: sql`null` };

/**
 * Ends intents that wait: they become calls that have ended, in one statement, and webhooks are told.
 * @param places a query for the places (`ctid`) of intents that are locked and wait
 */
export async function giveUpIntents(
  tx: Tx,
  places: RawBuilder<unknown>,
  { status, outcome, reason, dialedAt = sql`null` }: Unplaced,
  now: Date,
  recordEvents: RecordCallEvents,
): Promise<IntentKey[]> {
  const { rows } = await sql<{ workspace_id: string; id: string }>`
    with i as (delete from call_intents where ctid = any(array(${places})) returning *)
    insert into calls (workspace_id, id, status, outcome, direction, simulated, from_number, to_number, agent_id,
      phone_number_id, owner_kind, owner_id, attempt, start_at, place_before, ring_timeout_seconds, max_call_seconds, metadata, variables,
      external_id, tags, queued_at, dialed_at, ended_at, ended_by, reason)
    select workspace_id, id, ${status}, ${outcome}, 'outbound', simulated, from_number, to_number, agent_id,
      phone_number_id, ${INTENT}, id, greatest(1, attempt), ${now}, ${now}, ring_timeout_seconds, max_call_seconds, metadata, variables,
      external_id, tags, created_at, ${dialedAt}, ${now}, 'service', ${reason}
    from i returning workspace_id, id`.execute(tx.db);
  const calls = rows.map((row) => ({ workspaceId: row.workspace_id, roomId: row.id }));
  await recordEvents(tx, 'call.ended', calls);
  return calls;
}
