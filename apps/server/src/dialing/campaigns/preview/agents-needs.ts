import { unreadySentences } from '../../../voices/agents/script.ts';
import type { CampaignDeps } from '../deps.ts';
import { neededVariables } from './missing-variables.ts';

/** What an agent needs before it can call somebody. */
export interface AgentsNeeds {
  /** The names of variables. */
  needed: string[];
  /** Of a script: how many sentences that are the same for everybody are not made yet. */
  unreadySentences: number | undefined;
}

/** The same of the agent of a campaign. One that can't be asked for needs nothing that is known. */
export async function readAgentsNeeds(
  { agents, sentences }: Pick<CampaignDeps, 'agents' | 'sentences'>,
  workspaceId: string,
  agentId: string,
): Promise<AgentsNeeds> {
  const agent = await agents.resolve(agentId, workspaceId).catch(() => undefined);
  const connection = agent?.connection;
  const unready =
    connection?.type === 'script' ? await unreadySentences(sentences, workspaceId, connection) : undefined;
  return { needed: neededVariables(connection), unreadySentences: unready };
}
