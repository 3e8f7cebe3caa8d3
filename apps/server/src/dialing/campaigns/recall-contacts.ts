import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import type { EndedCall, PlacedCall } from '../calls/call.ts';
import type { CampaignKey } from './campaign.ts';
import { CONTACT, type ContactCall } from './end-contacts.ts';

/** The contacts `k` of calls `x`. */
const contactsOf = ({ workspaceId, campaignId }: CampaignKey, calls: readonly ContactCall<PlacedCall>[]) => sql`
  unnest(${calls.map((call) => call.roomId)}::uuid[], ${calls.map((call) => call.owner.id)}::uuid[],
    ${calls.map((call) => call.attempt)}::smallint[], ${calls.map((call) => call.at)}::timestamptz[])
    as x (room_id, contact_id, attempt, at)
  join campaign_contacts k on k.workspace_id = ${workspaceId} and k.campaign_id = ${campaignId} and k.id = x.contact_id`;

/**
 * Writes calls of a campaign's contacts that a restored database does not have, and counts their attempts on the campaign's
 * row, which the caller holds. Who would have been called counts as on a call, which `endContacts` ends.
 * @param simulated the providers whose calls ring nobody
 * @returns those whose contacts are there
 */
export async function recallContacts(
  tx: EngineTx,
  key: CampaignKey,
  calls: readonly ContactCall<PlacedCall>[],
  { now, simulated }: { now: Date; simulated: readonly string[] },
): Promise<EndedCall[]> {
  const { workspaceId, campaignId } = key;
  const written = await sql<{ id: string }>`
    insert into calls (workspace_id, id, status, outcome, direction, simulated, from_number, to_number, agent_id,
      phone_number_id, owner_kind, owner_id, campaign_id, attempt, start_at, place_before, ring_timeout_seconds, max_call_seconds,
      metadata, external_id, tags, queued_at, dialed_at, ended_at, ended_by)
    select p.workspace_id, x.room_id, 'failed', 'unknown', 'outbound', coalesce(n.provider = any(${simulated}), false),
      substring(n.phone_number from 2)::bigint, k.phone_number, p.agent_id, n.id, ${CONTACT}, k.id, p.id, x.attempt,
      x.at, x.at, p.ring_timeout_seconds, p.max_call_seconds, coalesce(p.metadata, '{}') || coalesce(k.metadata, '{}'),
      k.external_id, nullif(p.tags, '{}'), x.at, x.at, ${now}, 'error'
    from ${contactsOf(key, calls)}
    join campaigns p on p.workspace_id = ${workspaceId} and p.id = ${campaignId}
    left join phone_numbers n on n.workspace_id = p.workspace_id and n.id = p.phone_number_id
    on conflict do nothing returning id`.execute(tx.db);
  const ids = new Set(written.rows.map((row) => row.id));
  const own = calls.filter((call) => ids.has(call.roomId));
  if (own.length === 0) return [];
  const found = await sql<{ place: string; state: string; attempt: number }>`
    select k.ctid as place, k.state, x.attempt from ${contactsOf(key, own)} order by k.id for update of k`.execute(
    tx.db,
  );
  const inState = (state: string) => found.rows.filter((row) => row.state === state).length;
  await sql`
    update campaign_contacts k set attempt = greatest(k.attempt, x.attempt),
      state = case when k.state in ('pending', 'waiting') then 'dialing' else k.state end
    from unnest(${found.rows.map((row) => row.place)}::tid[], ${found.rows.map((row) => row.attempt)}::smallint[])
      as x (place, attempt)
    where k.ctid = x.place`.execute(tx.db);
  await sql`
    update campaigns set in_flight = in_flight + ${own.length}, attempts = attempts + ${own.length},
      pending = pending - ${inState('pending')}, waiting = waiting - ${inState('waiting')}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
  return own.map((call) => ({ ...call, outcome: 'unknown', endedAt: now }));
}
