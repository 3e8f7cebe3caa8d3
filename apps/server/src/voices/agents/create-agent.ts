import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { type AgentRow, newSecret, sealed } from './agent.ts';
import { attachKnowledgeBases } from './attach-knowledge-bases.ts';
import { checkConnection } from './check-connection.ts';
import type { AgentDeps } from './deps.ts';
import { findAgent } from './store.ts';

/**
 * Makes an agent. Throws `invalid_request` for a connection that the settings don't allow, `not_found` for a knowledge
 * base that isn't there, `knowledge_base_not_ready` and `idempotency_key_reused`.
 */
export async function createAgent(
  { database, clock, secrets, guard }: AgentDeps,
  workspaceId: string,
  body: components['schemas']['CreateAgent'],
  auditOf: AuditOf,
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<{ row: AgentRow; secret: string }>> {
  const {
    name,
    connection,
    maxConcurrentCalls,
    maxCallSeconds,
    silenceSeconds,
    knowledgeBaseIds = [],
    recording,
  } = body;
  checkConnection(guard, connection);
  const [id, now] = [newUuid(), clock.now()];
  const { headers = {}, secret = newSecret() } = connection;
  const operation = 'createAgent';
  const named = idempotencyKey
    ? { operation, key: idempotencyKey, request: body, resourceId: id, now, secrets, onlyFor: apiKeyId }
    : undefined;
  const make = async (tx: WorkspaceTx) => {
    await tx.db
      .insertInto('agents')
      .values({
        workspace_id: workspaceId,
        id,
        name,
        connection_url: connection.url,
        header_names: [],
        secret: '',
        ...sealed(secrets, workspaceId, id, { headers, secret }),
        connect_at: connection.connectAt ?? 'answered',
        connect_timeout_seconds: connection.connectTimeoutSeconds ?? 2,
        reconnect: connection.reconnect ?? false,
        max_concurrent_calls: maxConcurrentCalls ?? null,
        max_call_seconds: maxCallSeconds ?? null,
        silence_seconds: silenceSeconds ?? 30,
        recording: recording ?? false,
        created_at: now,
        updated_at: now,
      })
      .execute();
    await attachKnowledgeBases(tx, id, knowledgeBaseIds);
    await audit(tx, auditOf('agent.created', 'agent', toId('agent', id)), now);
    return { row: (await findAgent(tx, id))!, secret };
  };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      () => make(tx),
      (made) => made.secret,
      async (shown, made) => ({ row: await existing(findAgent(tx, made)), secret: shown }),
    ),
  );
}
