import type { Row } from '../../foundation/database/schema.ts';
import type { AgentEndReason } from '../../lines/media/agent-end.ts';

/** An agent with the knowledge bases that are attached to it, in the order in which they were given. */
export type AgentRow = Row<'agents'> & {
  knowledge_base_ids: string[];
  /** Since when nobody is called for it, as JSON has times, and why. */
  failing: { since: string; reason: AgentEndReason } | null;
};

/** An agent as it is kept, with or without its knowledge bases. */
export type KeptAgent = Row<'agents'> & Partial<Pick<AgentRow, 'knowledge_base_ids'>>;

/** Where an agent's secret stands, for `Secrets`; its headers, and its model's key. */
export const secretPlace = (workspaceId: string, id: string) => `agents.secret ${workspaceId} ${id}`;
export const headersPlace = (workspaceId: string, id: string) => `agents.connection_headers ${workspaceId} ${id}`;
export const apiKeyPlace = (workspaceId: string, id: string) => `agents.api_key ${workspaceId} ${id}`;
