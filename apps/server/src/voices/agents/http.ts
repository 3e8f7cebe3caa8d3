import type { Clock } from '../../foundation/values/clock.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { type Agent, type AgentDirectory, ofWorkspace } from './directory.ts';
import { readAgent } from './read-agent.ts';
import type { TemplateFault } from './realtime.ts';

const KEPT_MS = 30_000;
const MOST_KEPT = 1_000;

/**
 * Agents of an HTTP directory: `GET {baseUrl}/{id}` answers with the agent as JSON, or 404. An agent that was found is
 * kept for 30 seconds. Any other answer, and none within `timeoutMs`, is `unavailable`.
 */
export function httpAgents(options: {
  baseUrl: string;
  clock: Clock;
  templateFault: TemplateFault;
  timeoutMs?: number;
}): AgentDirectory {
  const { clock, templateFault, timeoutMs = 5_000 } = options;
  const base = options.baseUrl.replace(/\/+$/, '');
  const kept = new Map<string, { agent: Agent; until: number }>();

  const keep = (agent: Agent, now: number) => {
    kept.delete(agent.id);
    kept.set(agent.id, { agent, until: now + KEPT_MS });
    const oldest = kept.keys().next();
    if (kept.size > MOST_KEPT && !oldest.done) kept.delete(oldest.value);
  };

  return {
    async resolve(agentId, workspaceId) {
      // As a path segment these two would lead out of the directory.
      if (agentId === '' || agentId === '.' || agentId === '..') return undefined;
      const now = clock.now().getTime();
      const known = kept.get(agentId);
      if (known && known.until > now) return ofWorkspace(known.agent, workspaceId);
      const agent = await ask(`${base}/${encodeURIComponent(agentId)}`, { agentId, templateFault, timeoutMs });
      if (agent) keep(agent, now);
      else kept.delete(agentId);
      return ofWorkspace(agent, workspaceId);
    },
  };
}

async function ask(
  url: string,
  { agentId, templateFault, timeoutMs }: { agentId: string; templateFault: TemplateFault; timeoutMs: number },
): Promise<Agent | undefined> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok) throw new Error(`the agent directory answered ${response.status}`);
    const agent = readAgent(await response.json(), templateFault);
    if (agent.id !== agentId) throw new Error('the agent directory answered with something else than the agent');
    return agent;
  } catch (cause) {
    throw new ServiceError('unavailable', 'The agent directory could not be asked. Try again in a moment.', { cause });
  }
}
