import type { Insertable } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { checkVoicemail } from '../sounds/check-voicemail.ts';
import { newSecret, sealed } from './agent.ts';
import type { AgentRow } from './agent-row.ts';
import { attachKnowledgeBases } from './attach-knowledge-bases.ts';
import { checkConnection, checkKind } from './check-connection.ts';
import { checkKey } from './check-key.ts';
import type { AgentDeps } from './deps.ts';
import { withOperatorKey } from './operator-model.ts';
import { changedTerms, checkModelUrl, modelConnection, vendorUrl } from './realtime.ts';
import { changedScript, playSounds, type ScriptTerms } from './script.ts';
import { findAgent } from './store.ts';

/**
 * Makes an agent. Throws `invalid_request` for a connection that the settings don't allow, a model's key that is refused, and
 * words that are no templates, `not_found` for a knowledge
 * base that isn't there, `knowledge_base_not_ready` and `idempotency_key_reused`.
 */
export async function createAgent(
  deps: AgentDeps,
  workspaceId: string,
  body: components['schemas']['CreateAgent'],
  auditOf: AuditOf,
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<{ row: AgentRow; secret: string }>> {
  const { database, clock, secrets } = deps;
  const {
    name,
    connection,
    maxConcurrentCalls,
    maxCallSeconds,
    silenceSeconds,
    knowledgeBaseIds = [],
    recording,
    voicemail,
  } = body;
  const { url, columns, script, headers } = await ownColumns(deps, workspaceId, body);
  const [id, now] = [newUuid(), clock.now()];
  const { secret = newSecret(), apiKey } = secretsOf(connection);
  const operation = 'createAgent';
  const named = idempotencyKey
    ? { operation, key: idempotencyKey, request: body, resourceId: id, now, secrets, onlyFor: apiKeyId }
    : undefined;
  const make = async (tx: WorkspaceTx) => {
    await checkVoicemail(tx, voicemail);
    await tx.db
      .insertInto('agents')
      .values({
        workspace_id: workspaceId,
        id,
        name,
        header_names: [],
        secret: '',
        ...sealed(secrets, workspaceId, id, { headers, secret, apiKey }),
        connection_url: url,
        ...columns,
        max_concurrent_calls: maxConcurrentCalls ?? null,
        max_call_seconds: maxCallSeconds ?? null,
        silence_seconds: silenceSeconds ?? 30,
        recording: recording ?? false,
        voicemail_terms: voicemail ? JSON.stringify(voicemail) : null,
        created_at: now,
        updated_at: now,
      })
      .execute();
    await attachKnowledgeBases(tx, id, knowledgeBaseIds);
    if (script) await playSounds(tx, id, script);
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

/** What is kept of a connection, by its type: once its model has been asked whether the key is good. */
async function ownColumns(
  deps: AgentDeps,
  workspaceId: string,
  body: components['schemas']['CreateAgent'],
): Promise<OwnOfConnection> {
  const { connection, silenceSeconds = 30 } = body;
  if (connection.type === 'stream') return streamColumns(deps, connection, body);
  if (connection.type === 'script') return scriptColumns(deps, connection, body);
  const { url = vendorUrl(connection.protocol), apiKey } = connection;
  checkModelUrl(deps.guard, url);
  const before = { terms: undefined, toolHeaders: {} };
  const { terms, toolHeaders } = changedTerms(deps.guard, before, connection, body, deps.templateFault);
  const asked = modelConnection({ terms, url, apiKey, hasBases: false, silenceSeconds });
  await checkKey(deps, workspaceId, withOperatorKey(asked, deps.operatorModel));
  const columns = {
    connection_type: connection.type,
    connection: JSON.stringify(terms),
    ...({ connect_at: 'ringing', connect_timeout_seconds: 2, reconnect: true } as const),
  };
  return { url, columns, headers: toolHeaders };
}

function streamColumns(
  { guard }: AgentDeps,
  connection: Extract<Connection, { type: 'stream' }>,
  { instructions, firstMessage, speaksFirst, resultSchema, tools }: components['schemas']['CreateAgent'],
) {
  checkKind('stream', { instructions, firstMessage, speaksFirst, resultSchema, tools });
  checkConnection(guard, connection);
  const { url, headers, connectAt = 'answered', connectTimeoutSeconds = 2, reconnect = false } = connection;
  const columns = { connect_at: connectAt, connect_timeout_seconds: connectTimeoutSeconds, reconnect };
  return { url, columns, headers };
}

async function scriptColumns(
  deps: AgentDeps,
  connection: Extract<Connection, { type: 'script' }>,
  { instructions, firstMessage, speaksFirst, resultSchema, tools }: components['schemas']['CreateAgent'],
) {
  checkKind('script', { instructions, firstMessage, speaksFirst, resultSchema, tools });
  const speechFault = await deps.sentences.fault();
  const script = changedScript(undefined, connection, { templateFault: deps.templateFault, speechFault });
  const columns = {
    connection_type: connection.type,
    connection: JSON.stringify(script),
    ...({ connect_at: 'ringing', connect_timeout_seconds: 2, reconnect: false } as const),
  };
  return { url: null, columns, script };
}

/** What is kept of a connection. */
interface OwnOfConnection {
  url: string | null;
  columns: OwnColumns;
  headers?: Parameters<typeof sealed>[3]['headers'];
  script?: ScriptTerms;
}

type Connection = components['schemas']['CreateAgentConnection'];
/** Those that kinds of agents have of their own. */
type OwnColumns = Pick<Insertable<Schema['agents']>, 'connect_at' | 'connect_timeout_seconds' | 'reconnect'> &
  Partial<Pick<Insertable<Schema['agents']>, 'connection_type' | 'connection'>>;

const secretsOf = (connection: Connection): { secret?: string; apiKey?: string } =>
  connection.type === 'script' ? {} : connection;
