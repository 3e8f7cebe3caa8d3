import { ServiceError } from '../../foundation/values/service-error.ts';

/** An agent as a number names it; both null where none is bound. */
export interface BoundAgent {
  id: string | null;
  name: string | null;
}

/** Where agents are known: the directory that campaigns ask. */
export interface KnownAgents {
  /** The agent that a workspace has, or undefined where there is none. Throws `unavailable` if it can't be asked. */
  resolve(agentId: string, workspaceId: string): Promise<{ id: string; name: string } | undefined>;
}

const LONGEST_NAME = 255;

/**
 * The agent of a request's field: undefined where the field is absent, unbound where it is null. Throws
 * `invalid_request` for an agent that the directory doesn't know, and `unavailable` if it can't be asked.
 */
export async function boundAgent(
  agents: KnownAgents,
  workspaceId: string,
  agentId: string | null | undefined,
  path: string,
): Promise<BoundAgent | undefined> {
  if (agentId === undefined) return undefined;
  if (agentId === null) return { id: null, name: null };
  const agent = await agents.resolve(agentId, workspaceId);
  if (agent) return { id: agent.id, name: agent.name.slice(0, LONGEST_NAME) };
  const message = `There is no agent ${agentId}.`;
  throw new ServiceError('invalid_request', message, { details: [{ path, message }] });
}
