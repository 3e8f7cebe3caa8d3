import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { type Agent, type AgentDirectory, ofWorkspace } from './directory.ts';
import { readAgent } from './read-agent.ts';
import type { TemplateFault } from './realtime.ts';

/**
 * Agents out of a YAML or JSON file: `agents: [{id, name, connection?, …}]` (docs/agents.md). It is read once, at start.
 * Throws an error that names the file and its first fault.
 */
export async function fileAgents(path: string, templateFault: TemplateFault): Promise<AgentDirectory> {
  const agents = new Map<string, Agent>();
  for (const [index, value] of (await listIn(path)).entries()) {
    const agent = agentAt(path, index, value, templateFault);
    if (agents.has(agent.id)) throw new Error(`${path}: the agent ${agent.id} is there twice`);
    agents.set(agent.id, agent);
  }
  return { resolve: async (agentId, workspaceId) => ofWorkspace(agents.get(agentId), workspaceId) };
}

function agentAt(path: string, index: number, value: unknown, templateFault: TemplateFault): Agent {
  try {
    return readAgent(value, templateFault);
  } catch (error) {
    throw new Error(`${path}: agents[${index}]: ${(error as Error).message}`, { cause: error });
  }
}

async function listIn(path: string): Promise<unknown[]> {
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const list = typeof content === 'object' && content !== null && 'agents' in content ? content.agents : undefined;
  if (!Array.isArray(list)) throw new Error(`${path}: it has no list named agents`);
  return list;
}
