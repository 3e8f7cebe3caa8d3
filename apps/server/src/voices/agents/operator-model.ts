import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';
import type { AgentDirectory } from './directory.ts';

/** A speech model that whoever runs the server pays for. */
export interface OperatorModel {
  /** `wss://`. */
  url: string;
  key: string;
}

/**
 * A connection with the key that it is to use: the operator's, if it leads to the operator's model and has none of its own.
 * The key goes to that very address and to no other.
 */
export function withOperatorKey<Connection extends AgentConnection>(
  connection: Connection,
  operator: OperatorModel | undefined,
): Connection {
  if (!operator || connection.type !== 'realtime' || connection.apiKey !== undefined) return connection;
  const isTheirs = URL.parse(connection.url)?.href === new URL(operator.url).href;
  return isTheirs ? { ...connection, apiKey: operator.key } : connection;
}

/** A directory whose agents use the operator's key where they may. */
export const usingOperatorKey = (directory: AgentDirectory, operator: OperatorModel | undefined): AgentDirectory => ({
  async resolve(agentId, workspaceId) {
    const agent = await directory.resolve(agentId, workspaceId);
    return agent?.connection ? { ...agent, connection: withOperatorKey(agent.connection, operator) } : agent;
  },
});
