import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { countLiveCalls } from './agent-room.ts';
import type { AgentDirectory } from './directory.ts';

const MOST_KNOWN = 10_000;

/**
 * A directory whose agents' `maxConcurrentCalls` is kept in the database, where all servers find it as they place and take
 * calls. It is written down when an agent is asked for, and is new or has changed.
 */
export function withLimitsKept(database: Database, elsewhere: AgentDirectory): AgentDirectory {
  /** What was written down, by workspace and agent. */
  const known = new Map<string, number | undefined>();
  return {
    async resolve(agentId, workspaceId) {
      const agent = await elsewhere.resolve(agentId, workspaceId);
      if (!agent) return undefined;
      const key = `${workspaceId} ${agent.id}`;
      const { maxConcurrentCalls: most } = agent;
      if (known.has(key) && known.get(key) === most) return agent;
      await database.inWorkspace(workspaceId, (tx) => keepLimit(tx, agent.id, most));
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(key, most);
      return agent;
    },
  };
}

async function keepLimit(tx: WorkspaceTx, agentId: string, most: number | undefined): Promise<void> {
  if (most === undefined) {
    await sql`delete from agent_limits where workspace_id = ${tx.workspaceId} and agent_id = ${agentId}`.execute(tx.db);
    return;
  }
  const { rows } = await sql<{ id: string }>`
    insert into agent_limits (workspace_id, agent_id, id, max_concurrent_calls)
    values (${tx.workspaceId}, ${agentId}, ${newUuid()}, ${most})
    on conflict (workspace_id, agent_id) do update set max_concurrent_calls = excluded.max_concurrent_calls
    returning id`.execute(tx.db);
  await countLiveCalls(tx, agentId, rows[0]!.id);
}
