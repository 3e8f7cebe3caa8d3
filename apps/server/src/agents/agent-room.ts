import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';
import { fromId, isAgentId } from '../ids.ts';

/** What of an agent bounds its calls; null for one that is known elsewhere. */
export interface AgentTerms {
  agent_is_limited: boolean | null;
  agent_max_call_seconds: number | null;
}

/** SQL for the columns of `AgentTerms`, of the row `a` that `joinAgent` joins. */
export const agentTerms = sql`a.max_concurrent_calls is not null as agent_is_limited, a.max_call_seconds as agent_max_call_seconds`;

/** SQL that joins the agent of an ID, by its key; of one that is known elsewhere nothing is read. */
export const joinAgent = (workspaceId: RawBuilder<unknown>, agentId: RawBuilder<unknown>) => sql`
  left join lateral (select * from agents where workspace_id = ${workspaceId}
    and id = case when ${agentId} ~ '^agent_[0-9a-f]{32}$' then right(${agentId}, 32)::uuid end offset 0) as a on true`;

/** The UUID of an agent that its calls count for, if it has a limit. */
export const limitedAgentId = ({ agent_is_limited }: AgentTerms, agentId: string): string | null =>
  agent_is_limited ? fromId(agentId) : null;

/** How long a call may last, in seconds: no longer than its agent allows. */
export const callSeconds = (seconds: number, { agent_max_call_seconds }: AgentTerms): number =>
  Math.min(seconds, agent_max_call_seconds ?? seconds);

/**
 * Locks an agent, and reads how many more calls it may have up: that can't change until the transaction ends, since all
 * who place or take calls of an agent with a limit hold it first (engine.md, "Locks"). Undefined where it has no limit. Its
 * live calls are counted by an index of theirs.
 */
export async function lockAgentRoom(tx: EngineTx, workspaceId: string, agentId: string): Promise<number | undefined> {
  if (!isAgentId(agentId)) return undefined;
  const id = fromId(agentId);
  const { rows } = await sql<{ max_concurrent_calls: number }>`
    select max_concurrent_calls from agents
    where workspace_id = ${workspaceId} and id = ${id} and max_concurrent_calls is not null
    for no key update`.execute(tx.db);
  if (!rows[0]) return undefined;
  // After the lock: what was counted together with it would be older.
  const counted = await sql<{ live: number }>`
    select count(*) as live from calls
    where workspace_id = ${workspaceId} and limited_agent_id = ${id} and ended_at is null`.execute(tx.db);
  return Math.max(0, rows[0].max_concurrent_calls - counted.rows[0]!.live);
}
