import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { afterOutcome } from './after-outcome.ts';

/** How long after its end a call may be told to have reached a machine, in milliseconds. */
const LATEST_MS = 3_600_000;

interface Found {
  place: string;
  campaign_id: string;
  ended_at: Date;
  tries: number;
  faults: number;
  agent_faults: number;
  retry_policy: number[];
}

/**
 * Has the contact of a call tried again of which its agent says, up to an hour after its end, that a machine answered: as
 * after a voicemail, unless it was called since or its campaign has ended. The caller holds the campaign. A call that is up
 * is judged when it ends.
 */
export async function retryMachine({ db, workspaceId, tell }: WorkspaceTx, roomId: string, now: Date): Promise<void> {
  const { rows } = await sql<Found>`
    select k.ctid as place, k.campaign_id, c.ended_at, k.tries, k.faults, k.agent_faults, p.retry_policy
    from calls c
    join campaigns p on p.workspace_id = c.workspace_id and p.id = c.campaign_id
    join campaign_contacts k on k.workspace_id = c.workspace_id and k.campaign_id = c.campaign_id and k.id = c.owner_id
    where c.workspace_id = ${workspaceId} and c.id = ${roomId} and c.answered_at is not null
      and c.ended_at > ${new Date(now.getTime() - LATEST_MS)} and p.status in ('running', 'paused')
      and k.state = 'done' and k.attempt = c.attempt and k.last_outcome in ('answered', 'agent_error')
    for update of k`.execute(db);
  const [row] = rows;
  if (!row) return;
  const before = { tries: Math.max(0, row.tries - 1), faults: row.faults, agentFaults: row.agent_faults };
  const rules = { retryPolicy: row.retry_policy };
  const next = afterOutcome(before, { outcome: 'voicemail', endedAt: row.ended_at }, rules);
  const at = next.nextAttemptAt > now ? next.nextAttemptAt : now;
  await sql`
    update campaign_contacts set state = ${next.state}, tries = ${next.tries}, next_attempt_at = ${at},
      last_outcome = 'voicemail', reason = ${next.reason}
    where ctid = ${row.place}::tid`.execute(db);
  const again = Number(next.state === 'waiting');
  tell(row.campaign_id);
  await sql`
    update campaigns set done = done - ${again}, waiting = waiting + ${again}, next_claim_at = least(next_claim_at, ${now}),
      revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${row.campaign_id}`.execute(db);
}
