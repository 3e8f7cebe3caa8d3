import { toId } from '../../foundation/values/ids.ts';
import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';
import type { Voicemail } from '../../lines/telephony/voicemail.ts';

/** A voice agent, as far as calls need to know it. */
export interface Agent {
  id: string;
  name: string;
  /** How calls reach it; absent where only simulated calls can. */
  connection?: AgentConnection;
  /** The most calls that it takes at once. */
  maxConcurrentCalls?: number;
  /** Seconds of talk after which its calls are hung up. */
  maxCallSeconds?: number;
  /** Whether its calls are recorded. */
  recording?: boolean;
  /** What is done if a machine answers its calls. */
  voicemail?: Voicemail;
  /** What it may search, as clients see it. */
  knowledgeBaseIds?: string[];
  /** The workspaces that have it, as clients see them; all of them if there are none. */
  workspaces?: string[];
}

/** An agent of a file or another directory, if a workspace has it: to others it is as one that never was. */
export const ofWorkspace = (agent: Agent | undefined, workspaceId: string): Agent | undefined =>
  agent?.workspaces?.includes(toId('ws', workspaceId)) === false ? undefined : agent;

/** Where agents are known (agents.md, "Agents that are known elsewhere"). */
export interface AgentDirectory {
  /** The agent that a workspace has, or undefined where there is none. Throws `unavailable` if it can't be asked. */
  resolve(agentId: string, workspaceId: string): Promise<Agent | undefined>;
}

/** Every ID is an agent, and its own name. */
export const anyAgent: AgentDirectory = {
  resolve: async (agentId) => ({ id: agentId, name: agentId }),
};
