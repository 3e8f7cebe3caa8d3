import { randomBytes } from 'node:crypto';
import type { Row } from '../../foundation/database/schema.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { AgentEndReason } from '../../lines/media/agent-end.ts';
import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';
import type { Agent } from './directory.ts';

/** An agent with the knowledge bases that are attached to it, in the order in which they were given. */
export type AgentRow = Row<'agents'> & {
  knowledge_base_ids: string[];
  /** Since when nobody is called for it, as JSON has times, and why. */
  failing: { since: string; reason: AgentEndReason } | null;
};

/** A new secret: 32 random bytes. */
export const newSecret = (): string => `ags_${randomBytes(32).toString('base64url')}`;

/** What an agent's secret is encrypted for. */
/** Where an agent's secret stands, for `Secrets`; and its headers. */
export const secretPlace = (workspaceId: string, id: string) => `agents.secret ${workspaceId} ${id}`;
export const headersPlace = (workspaceId: string, id: string) => `agents.connection_headers ${workspaceId} ${id}`;

/** The columns that hold what is secret of a connection, of those that are given. */
export const sealed = (
  secrets: Secrets,
  workspaceId: string,
  id: string,
  { headers, secret }: { headers?: Record<string, string> | undefined; secret?: string | undefined },
) => ({
  ...(secret !== undefined && { secret: secrets.encrypt(secret, secretPlace(workspaceId, id)) }),
  ...(headers !== undefined && {
    connection_headers: secrets.encrypt(JSON.stringify(headers), headersPlace(workspaceId, id)),
    header_names: Object.keys(headers),
  }),
});

const presentStream = (row: AgentRow): components['schemas']['AgentStreamConnection'] => ({
  type: 'stream',
  url: row.connection_url!,
  headerNames: row.header_names,
  connectAt: row.connect_at,
  connectTimeoutSeconds: row.connect_timeout_seconds,
  reconnect: row.reconnect,
});

/** An agent as clients see it. */
export const presentAgent = (row: AgentRow): components['schemas']['Agent'] => ({
  id: toId('agent', row.id),
  name: row.name,
  connection: presentStream(row),
  ...(row.max_concurrent_calls !== null && { maxConcurrentCalls: row.max_concurrent_calls }),
  ...(row.max_call_seconds !== null && { maxCallSeconds: row.max_call_seconds }),
  knowledgeBaseIds: row.knowledge_base_ids.map((id) => toId('kb', id)),
  silenceSeconds: row.silence_seconds,
  recording: row.recording,
  ...(row.failing && { failing: { since: new Date(row.failing.since).toISOString(), reason: row.failing.reason } }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** How an agent is reached, its secrets decrypted. */
export function openConnection(row: Row<'agents'>, secrets: Secrets): AgentConnection {
  const { workspace_id: workspaceId, id } = row;
  const headers =
    row.connection_headers === null
      ? {}
      : (JSON.parse(secrets.decrypt(row.connection_headers, headersPlace(workspaceId, id))) as Record<string, string>);
  return {
    type: 'stream',
    url: row.connection_url!,
    headers,
    secret: secrets.decrypt(row.secret, secretPlace(workspaceId, id)),
    connectAt: row.connect_at,
    connectTimeoutSeconds: row.connect_timeout_seconds,
    reconnect: row.reconnect,
    silenceSeconds: row.silence_seconds,
  };
}

/** An agent as calls know it. */
export const openAgent = (row: AgentRow, secrets: Secrets): Agent => ({
  id: toId('agent', row.id),
  name: row.name,
  connection: openConnection(row, secrets),
  ...(row.max_concurrent_calls !== null && { maxConcurrentCalls: row.max_concurrent_calls }),
  ...(row.max_call_seconds !== null && { maxCallSeconds: row.max_call_seconds }),
  recording: row.recording,
  knowledgeBaseIds: row.knowledge_base_ids.map((id) => toId('kb', id)),
});
