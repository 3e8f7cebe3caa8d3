import { sql } from 'kysely';
import type { CallOwner } from '../calls/call-owner.ts';
import { giveUpIntents } from './give-up.ts';
import { INTENT, whereIntentIs } from './intent.ts';

/** The places of the intents `t` of rows `x` of their keys, one by one. */
const placeOf = sql`cross join lateral (
  select ctid as place from call_intents t ${whereIntentIs(sql`x.workspace_id`, sql`x.id`)}) as found`;

/** Intents, as the owners of their calls: of the same ID, so that a call that is given back waits again as it did before. */
export const intentCallOwner = (nudge: () => void): CallOwner => ({
  kind: INTENT,
  mayBePlaced: (now) => sql`(select i.expires_at > ${now} from call_intents i
    where i.workspace_id = c.workspace_id and i.id = c.id)`,
  isPlacedAgain: sql`exists (select from call_intents i where i.workspace_id = c.workspace_id and i.id = c.id)`,
  onCallsEnded: async (tx, calls) => {
    await sql`
      delete from call_intents where ctid = any(array(
        select found.place from unnest(${calls.map((call) => call.workspaceId)}::uuid[],
          ${calls.map((call) => call.roomId)}::uuid[]) as x (workspace_id, id) ${placeOf}))`.execute(tx.db);
  },
  onCallsReturned: async (tx, calls, now) => {
    await sql`
      update call_intents i set next_attempt_at = ${now}, attempt = i.attempt - x.taken_back
      from (select found.place, x.taken_back from unnest(${calls.map((call) => call.workspaceId)}::uuid[],
          ${calls.map((call) => call.roomId)}::uuid[], ${calls.map((call) => Number(call.attemptTakenBack))}::smallint[])
          as x (workspace_id, id, taken_back) ${placeOf}) as x
      where i.ctid = x.place`.execute(tx.db);
  },
  recall: async (tx, calls, now) => {
    const rooms = sql`${calls.map((call) => call.roomId)}::uuid[]`;
    const places = sql`
      select i.ctid from unnest(${calls.map((call) => call.workspaceId)}::uuid[], ${rooms}) as x (workspace_id, id)
      join call_intents i on i.workspace_id = x.workspace_id and i.id = x.id and i.next_attempt_at is not null for update of i`;
    const dialedAt = sql`(select x.at from unnest(${rooms}, ${calls.map((call) => call.at)}::timestamptz[]) as x (id, at)
      where x.id = i.id limit 1)`;
    const placed = { status: 'failed', outcome: 'unknown', reason: sql`null`, dialedAt } as const;
    const ended = await giveUpIntents(tx, places, placed, now, async () => {});
    return ended.map((key) => {
      const owner = { kind: INTENT, id: key.roomId };
      return { ...key, owner, campaignId: null, outcome: 'unknown', endedAt: now };
    });
  },
  nudge,
});
