import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import { fromId, isAgentId } from '../../foundation/values/ids.ts';
import { openAgent } from './agent.ts';
import type { AgentRow } from './agent-row.ts';
import type { Agent, AgentDirectory } from './directory.ts';
import { findAgent, withKnowledgeBases } from './store.ts';

/**
 * The agents that the server keeps itself, by the IDs that it gives; another ID is looked for elsewhere.
 * @param elsewhere the directory of the settings, or `anyAgent`
 */
export function keptAgents(database: Database, secrets: Secrets, elsewhere: AgentDirectory): AgentDirectory {
  return {
    async resolve(agentId, workspaceId) {
      if (!isAgentId(agentId)) return elsewhere.resolve(agentId, workspaceId);
      const row = await database.inWorkspace(workspaceId, (tx) => findAgent(tx, fromId(agentId)));
      return row && openAgent(row, secrets);
    },
  };
}

const keyOf = (workspaceId: string, id: string) => `${workspaceId} ${id}`;

/** The most agents that are read at once, and the most of these reads at a time. */
const MOST_READ = 200;
const MOST_READS = 4;

/** The same for calls that are being placed or taken: those of the calls of a moment are read by one statement. */
export function agentsOfCalls(
  database: Database,
  secrets: Secrets,
  elsewhere: AgentDirectory,
  log: Logger,
): AgentDirectory {
  const open = (row: AgentRow): Agent | undefined => {
    try {
      return openAgent(row, secrets);
    } catch {
      log.error({ agentId: row.id }, "an agent's secret can not be decrypted; was ENCRYPTION_KEY changed?");
      return undefined;
    }
  };
  const read = coalesce(
    async (wanted: { workspaceId: string; id: string }[]) => {
      const each = [...new Map(wanted.map((key) => [keyOf(key.workspaceId, key.id), key])).values()];
      const { rows } = await database.inEngine(({ db }) =>
        sql<AgentRow>`
          select a.* from unnest(${each.map((key) => key.workspaceId)}::uuid[], ${each.map((key) => key.id)}::uuid[])
            as x (workspace_id, id)
          cross join lateral (select ${withKnowledgeBases} from agents a where a.workspace_id = x.workspace_id and a.id = x.id limit 1) as a`.execute(
          db,
        ),
      );
      const found = new Map(rows.map((row) => [keyOf(row.workspace_id, row.id), open(row)]));
      return wanted.map(({ workspaceId, id }) => found.get(keyOf(workspaceId, id)));
    },
    { atMost: MOST_READ, sets: MOST_READS },
  );
  return {
    resolve: (agentId, workspaceId) =>
      isAgentId(agentId) ? read({ workspaceId, id: fromId(agentId) }) : elsewhere.resolve(agentId, workspaceId),
  };
}
