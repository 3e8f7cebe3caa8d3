/** A voice agent, as far as calls need to know it. */
export interface Agent {
  id: string;
  name: string;
  /** Where a SIP trunk's calls reach it. */
  sipUri?: string;
  /** The name that LiveKit dispatches it by. */
  livekitAgentName?: string;
}

/** Where agents are known: they come from elsewhere (decisions.md, "Phone numbers"). */
export interface AgentDirectory {
  /** The agent, or undefined where there is none. Throws `unavailable` if the directory can't be asked. */
  resolve(agentId: string): Promise<Agent | undefined>;
}

/** Without a directory every ID is an agent, and its own name. */
export const anyAgent: AgentDirectory = {
  resolve: async (agentId) => ({ id: agentId, name: agentId }),
};

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value);

/** An agent out of what a file or a server gave; undefined if it is none. Fields that we don't know are left out. */
export function readAgent(value: unknown): Agent | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, name, sipUri, livekitAgentName } = value as Record<string, unknown>;
  if (!isText(id) || !isText(name) || !isTextOrAbsent(sipUri) || !isTextOrAbsent(livekitAgentName)) return undefined;
  return { id, name, ...(sipUri && { sipUri }), ...(livekitAgentName && { livekitAgentName }) };
}
