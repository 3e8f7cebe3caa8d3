import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { addOptOut } from '../do-not-call/store.ts';
import { type AuditEntry, audit } from '../journal/record.ts';
import { notFound } from '../service-error.ts';
import { type Call, shapeCall } from './shape-call.ts';
import { findCall } from './store.ts';

type RecordCallResult = components['schemas']['RecordCallResult'];

/**
 * Records what the agent found out about a call: fields that are sent replace, the others stay, so that sending the same
 * again changes nothing. A conversion counts once a call; `optOut: true` puts the person's number on the do-not-call
 * list, and nothing here takes it off. Throws `not_found`.
 */
export async function recordCallResult(
  database: Database,
  workspaceId: string,
  roomId: string,
  result: RecordCallResult,
  { now, actor }: { now: Date; actor: AuditEntry },
): Promise<Call> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const call = await findCall(tx, roomId);
    if (!call) throw notFound();
    // The campaign's row comes before the call's (engine.md, "Locks").
    if (call.campaign_id) {
      await sql`select from campaigns where workspace_id = ${workspaceId} and id = ${call.campaign_id} for update`.execute(tx.db);
    }
    const { rows } = await sql<{ converted: number }>`
      with before as (
        select id, coalesce(result, '{}') as result from calls
        where workspace_id = ${workspaceId} and id = ${roomId} for update
      )
      update calls c set result = case when before.result || sent = before.result then before.result
        else before.result || sent || jsonb_build_object('recordedAt', ${now.toISOString()}::text) end
      from before, (select ${JSON.stringify(result)}::jsonb as sent) as x
      where c.workspace_id = ${workspaceId} and c.id = before.id
      returning coalesce((c.result ->> 'converted')::boolean, false)::int
        - coalesce((before.result ->> 'converted')::boolean, false)::int as converted`.execute(tx.db);
    const { converted } = rows[0]!;
    if (call.campaign_id && converted !== 0) {
      await sql`update campaigns set conversions = conversions + ${converted}, revision = revision + 1
        where workspace_id = ${workspaceId} and id = ${call.campaign_id}`.execute(tx.db);
    }
    if (result.optOut) {
      const person = call.direction === 'outbound' ? call.to_number : call.from_number;
      await addOptOut(tx, person, 'Asked for it on a call.', now);
    }
    await audit(tx, actor, now);
    return shapeCall((await findCall(tx, roomId))!);
  });
}
