import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Row } from '../database/schema.ts';
import type { Secrets } from '../database/secrets.ts';
import { fromId, isAgentId } from '../ids.ts';
import { openAgent } from './agent.ts';
import type { AgentDirectory } from './directory.ts';

/**
 * The agents that the server keeps itself, by the IDs that it gives; another ID is looked for elsewhere.
 * @param elsewhere the directory of the settings, or `anyAgent`
 */
export function keptAgents(database: Database, secrets: Secrets, elsewhere: AgentDirectory): AgentDirectory {
  return {
    async resolve(agentId, workspaceId) {
      if (!isAgentId(agentId)) return elsewhere.resolve(agentId, workspaceId);
      const { rows } = await database.inWorkspace(workspaceId, (tx) =>
        sql<Row<'agents'>>`
          select * from agents where workspace_id = ${workspaceId} and id = ${fromId(agentId)}`.execute(tx.db),
      );
      return rows[0] && openAgent(rows[0], secrets);
    },
  };
}
