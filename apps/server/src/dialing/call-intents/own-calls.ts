import { sql } from 'kysely';
import type { OwnedCall } from '../calls/call.ts';
import type { CallOwner } from '../calls/call-owner.ts';
import { giveUpIntents } from './give-up.ts';
import { whereIntentIs } from './intent.ts';

const isOfNobodyElse = sql`c.campaign_id is null and c.workflow_run_id is null and c.direction = 'outbound'`;

/** The places of the intents `t` of rows `x` of their keys, one by one. */
const placeOf = sql`cross join lateral (
  select ctid as place from call_intents t ${whereIntentIs(sql`x.workspace_id`, sql`x.id`)}) as found`;

const ownOf = <T extends OwnedCall>(calls: readonly T[]): T[] =>
  calls.filter((call) => call.campaignId === null && call.workflowRunId === null);

/** Intents, as the owners of their calls: of the same ID, so that a call that is given back waits again as it did before. */
export const intentCallOwner = (nudge: () => void): CallOwner => ({
  mayBePlaced: (now) => sql`(${isOfNobodyElse} and (select i.expires_at > ${now} from call_intents i
    where i.workspace_id = c.workspace_id and i.id = c.id))`,
  isPlacedAgain: sql`(${isOfNobodyElse} and exists (select from call_intents i
    where i.workspace_id = c.workspace_id and i.id = c.id))`,
  onCallsEnded: async (tx, calls) => {
    const own = ownOf(calls);
    if (own.length === 0) return;
    await sql`
      delete from call_intents where ctid = any(array(
        select found.place from unnest(${own.map((call) => call.workspaceId)}::uuid[],
          ${own.map((call) => call.roomId)}::uuid[]) as x (workspace_id, id) ${placeOf}))`.execute(tx.db);
  },
  onCallsReturned: async (tx, calls, now) => {
    const own = ownOf(calls);
    if (own.length === 0) return;
    await sql`
      update call_intents i set next_attempt_at = ${now}, attempt = i.attempt - x.taken_back
      from (select found.place, x.taken_back from unnest(${own.map((call) => call.workspaceId)}::uuid[],
          ${own.map((call) => call.roomId)}::uuid[], ${own.map((call) => Number(call.attemptTakenBack))}::smallint[])
          as x (workspace_id, id, taken_back) ${placeOf}) as x
      where i.ctid = x.place`.execute(tx.db);
  },
  recall: async (tx, calls, now) => {
    const own = ownOf(calls);
    const rooms = sql`${own.map((call) => call.roomId)}::uuid[]`;
    const places = sql`
      select i.ctid from unnest(${own.map((call) => call.workspaceId)}::uuid[], ${rooms}) as x (workspace_id, id)
      join call_intents i on i.workspace_id = x.workspace_id and i.id = x.id and i.next_attempt_at is not null for update of i`;
    const dialedAt = sql`(select x.at from unnest(${rooms}, ${own.map((call) => call.at)}::timestamptz[]) as x (id, at)
      where x.id = i.id limit 1)`;
    const placed = { status: 'failed', outcome: 'unknown', reason: sql`null`, dialedAt } as const;
    const ended = await giveUpIntents(tx, places, placed, now, async () => {});
    const nobody = { campaignId: null, contactId: null, workflowRunId: null };
    return ended.map((key) => ({ ...key, ...nobody, outcome: 'unknown', endedAt: now }));
  },
  nudge,
});
