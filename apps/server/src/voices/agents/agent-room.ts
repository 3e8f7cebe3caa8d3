import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import { fromId, isAgentId } from '../../foundation/values/ids.ts';
import { type HealthTerms, healthTerms, joinHealth } from './agent-health.ts';

/** What of an agent bounds its calls. */
export interface AgentTerms extends HealthTerms {
  /** The UUID that its calls count for, where it has a limit of calls at once. */
  limited_agent_id: string | null;
  /** Null for one that is known elsewhere, too. */
  agent_max_call_seconds: number | null;
}

/**
 * SQL for the columns of `AgentTerms`, of the rows that `joinAgent` joins.
 * @param since a time besides its last change and failure that it must have been heard after, or it is unproven
 */
export const agentTerms = (since?: RawBuilder<unknown>) => sql`
  coalesce(case when a.max_concurrent_calls is not null then a.id end, e.id) as limited_agent_id,
  a.max_call_seconds as agent_max_call_seconds, ${healthTerms(since)}`;

/**
 * SQL that joins the agent of an ID by its key: as `a` one that is kept here, as `e` the limit of one that is known
 * elsewhere, if it has any; and as `h` how it has fared.
 * @param held whether an agent without a limit is held until the transaction ends: one that is given its first limit
 *   meanwhile waits, and then counts the calls that were committed without it
 */
export const joinAgent = (workspaceId: RawBuilder<unknown>, agentId: RawBuilder<unknown>, held = false) => sql`
  left join lateral (select * from agents where workspace_id = ${workspaceId}
    and id = case when ${agentId} ~ '^agent_[0-9a-f]{32}$' then right(${agentId}, 32)::uuid end offset 0
    ${held ? sql`for key share` : sql``}) as a on true
  left join lateral (select * from agent_limits where workspace_id = ${workspaceId} and agent_id = ${agentId} offset 0) as e
    on true
  ${joinHealth(workspaceId, agentId)}`;

/** How long a call may last, in seconds: no longer than its agent allows. */
export const callSeconds = (seconds: number, { agent_max_call_seconds }: AgentTerms): number =>
  Math.min(seconds, agent_max_call_seconds ?? seconds);

/** How many more calls an agent may have up, and the UUID that they count for. */
export interface AgentRoom {
  limitedAgentId: string;
  left: number;
}

/**
 * Locks an agent, and reads how many more calls it may have up: that can't change until the transaction ends, since all
 * who place or take calls of an agent with a limit hold it first (dialing.md, "Locks"). Undefined if it has no limit;
 * then it gets none before the transaction ends. Its live calls are counted by an index of theirs.
 */
export async function lockAgentRoom(tx: Tx, workspaceId: string, agentId: string): Promise<AgentRoom | undefined> {
  const agent = isAgentId(agentId)
    ? sql`agents where workspace_id = ${workspaceId} and id = ${fromId(agentId)}`
    : sql`agent_limits where workspace_id = ${workspaceId} and agent_id = ${agentId}`;
  const held = await sql<{ max_concurrent_calls: number | null }>`
    select max_concurrent_calls from ${agent} for key share`.execute(tx.db);
  if (held.rows[0]?.max_concurrent_calls == null) return undefined;
  const { rows } = await sql<{ id: string; max_concurrent_calls: number }>`
    select id, max_concurrent_calls from ${agent} and max_concurrent_calls is not null for no key update`.execute(
    tx.db,
  );
  if (!rows[0]) return undefined;
  const { id: limitedAgentId, max_concurrent_calls: most } = rows[0];
  // After the lock: what was counted together with it would be older.
  const counted = await sql<{ live: number }>`
    select count(*) as live from calls
    where workspace_id = ${workspaceId} and limited_agent_id = ${limitedAgentId} and ended_at is null`.execute(tx.db);
  return { limitedAgentId, left: Math.max(0, most - counted.rows[0]!.live) };
}

/** An agent's calls that are up, also those that began while it had no limit, count for a UUID from now on. Whoever gives the limit holds the agent. */
export async function countLiveCalls(tx: WorkspaceTx, agentId: string, limitedAgentId: string): Promise<void> {
  await sql`
    update calls set limited_agent_id = ${limitedAgentId}
    where workspace_id = ${tx.workspaceId} and agent_id = ${agentId} and ended_at is null
      and limited_agent_id is distinct from ${limitedAgentId}`.execute(tx.db);
}
