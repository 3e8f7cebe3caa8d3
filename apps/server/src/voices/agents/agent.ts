import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';
import { type AgentRow, apiKeyPlace, headersPlace, type KeptAgent, secretPlace } from './agent-row.ts';
import type { Agent } from './directory.ts';
import { openRealtime, presentRealtime } from './realtime.ts';
import { presentScript } from './script.ts';

/** A new secret: 32 random bytes. */
export const newSecret = (): string => `ags_${randomBytes(32).toString('base64url')}`;

/** What is secret of a connection. */
interface Secret {
  /** Of a stream by their names; of a model's tools, those of each by the tool's name. */
  headers?: Record<string, string | Record<string, string>> | undefined;
  secret?: string | undefined;
  apiKey?: string | undefined;
}

/** The columns that hold what is secret of a connection, of those that are given. */
export const sealed = (secrets: Secrets, workspaceId: string, id: string, { headers, secret, apiKey }: Secret) => ({
  ...(secret !== undefined && { secret: secrets.encrypt(secret, secretPlace(workspaceId, id)) }),
  ...(apiKey !== undefined && { api_key: secrets.encrypt(apiKey, apiKeyPlace(workspaceId, id)) }),
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

const presentKinds = {
  stream: (row: AgentRow) => ({ connection: presentStream(row) }),
  realtime: presentRealtime,
  script: (row: AgentRow) => {
    const connection = presentScript(row);
    return { connection, abilities: [...new Set(connection.steps.map(({ type }) => type))] };
  },
};

/** An agent as clients see it. */
export const presentAgent = (row: AgentRow): components['schemas']['Agent'] => ({
  id: toId('agent', row.id),
  name: row.name,
  ...presentKinds[row.connection_type](row),
  ...(row.max_concurrent_calls !== null && { maxConcurrentCalls: row.max_concurrent_calls }),
  ...(row.max_call_seconds !== null && { maxCallSeconds: row.max_call_seconds }),
  knowledgeBaseIds: row.knowledge_base_ids.map((id) => toId('kb', id)),
  silenceSeconds: row.silence_seconds,
  recording: row.recording,
  ...(row.voicemail_terms && { voicemail: row.voicemail_terms }),
  ...(row.failing && { failing: { since: new Date(row.failing.since).toISOString(), reason: row.failing.reason } }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** How an agent is reached, its secrets decrypted. */
export function openConnection(row: KeptAgent, secrets: Secrets): AgentConnection {
  if (row.connection_type === 'realtime') return openRealtime(row, secrets);
  if (row.connection_type === 'script') return presentScript(row);
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
  ...(row.voicemail_terms && { voicemail: row.voicemail_terms }),
  knowledgeBaseIds: row.knowledge_base_ids.map((id) => toId('kb', id)),
});
