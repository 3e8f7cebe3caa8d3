import { sql } from 'kysely';
import type { WaitingCalls } from '../calls/store.ts';
import { INTENT } from './intent.ts';

/** Intents that wait, as the calls that they are to clients. */
export const waitingCalls: WaitingCalls = {
  listed: sql`
    select workspace_id, id, ${sql.lit(INTENT)}::text, id, null::uuid, 'queued'::text, null::text, 'outbound'::text,
      agent_id, from_number, to_number, created_at, external_id, tags, metadata, next_attempt_at is not null
    from call_intents`,
  named: (workspaceId, id) => sql`
    select k.*, i.next_attempt_at, i.expires_at, i.number_pool_id
    from call_intents i cross join lateral jsonb_populate_record(null::calls, jsonb_build_object(
      'workspace_id', i.workspace_id, 'id', i.id, 'status', 'queued', 'direction', 'outbound', 'simulated', i.simulated,
      'from_number', i.from_number, 'owner_kind', ${sql.lit(INTENT)}::text, 'owner_id', i.id, 'to_number', i.to_number, 'agent_id', i.agent_id,
      'phone_number_id', i.phone_number_id, 'attempt', i.attempt + 1, 'metadata', i.metadata, 'variables', i.variables,
      'external_id', i.external_id, 'tags', i.tags, 'queued_at', i.created_at, 'reason', i.reason)) k
    where i.workspace_id = ${workspaceId} and i.id = ${id} and i.next_attempt_at is not null`,
};
