import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { checkVoicemail } from '../sounds/check-voicemail.ts';
import { sealed } from './agent.ts';
import { countLiveCalls } from './agent-room.ts';
import type { AgentRow } from './agent-row.ts';
import { attachKnowledgeBases } from './attach-knowledge-bases.ts';
import { checkConnection, checkKind, checkMove } from './check-connection.ts';
import { checkKey } from './check-key.ts';
import type { AgentDeps } from './deps.ts';
import { openToolHeaders } from './http-tools.ts';
import { changedTerms, checkModelUrl, modelConnection, termsOf } from './realtime.ts';
import { changedScript, playSounds, type ScriptTerms, scriptOf } from './script.ts';
import { findAgent, lockAgent } from './store.ts';

/** Changes what the body names. Throws `not_found`, `changed_meanwhile`, and what `createAgent` throws. */
export async function updateAgent(
  deps: AgentDeps,
  workspaceId: string,
  id: string,
  body: components['schemas']['UpdateAgent'],
  auditOf: AuditOf,
  ifMatch?: string,
): Promise<AgentRow> {
  const { database, clock, secrets } = deps;
  const {
    name,
    connection = {},
    maxConcurrentCalls,
    maxCallSeconds,
    silenceSeconds,
    knowledgeBaseIds,
    recording,
    voicemail,
  } = body;
  if (connection.apiKey !== undefined) await checkNewKey(deps, workspaceId, id, body);
  const speechFault = connection.steps && (await deps.sentences.fault());
  return database.inWorkspace(workspaceId, async (tx) => {
    // A first limit waits for who places calls without one, and then counts them.
    const locked = await lockAgent(tx, id, maxConcurrentCalls ? 'update' : 'no key update');
    if (!locked) throw notFound();
    checkEdition(locked, ifMatch);
    const before = (await findAgent(tx, id))!;
    const changed = checkedChange(deps, before, body);
    const script = checkedScript(deps, before, connection, speechFault);
    if (Object.keys(body).length === 0) return before;
    checkMove(before, connection);
    await checkVoicemail(tx, voicemail);
    const now = clock.now();
    await tx.db
      .updateTable('agents')
      .set({
        ...(name !== undefined && { name }),
        ...(connection.url !== undefined && { connection_url: connection.url }),
        ...sealed(secrets, workspaceId, id, {
          ...connection,
          ...(changed?.toolHeaders && { headers: changed.toolHeaders }),
        }),
        ...((changed ?? script) && { connection: JSON.stringify(changed?.terms ?? script) }),
        ...(connection.connectAt !== undefined && { connect_at: connection.connectAt }),
        ...(connection.connectTimeoutSeconds !== undefined && {
          connect_timeout_seconds: connection.connectTimeoutSeconds,
        }),
        ...(connection.reconnect !== undefined && { reconnect: connection.reconnect }),
        ...(maxConcurrentCalls !== undefined && { max_concurrent_calls: maxConcurrentCalls }),
        ...(maxCallSeconds !== undefined && { max_call_seconds: maxCallSeconds }),
        ...(silenceSeconds !== undefined && { silence_seconds: silenceSeconds }),
        ...(recording !== undefined && { recording }),
        ...(voicemail !== undefined && { voicemail_terms: voicemail && JSON.stringify(voicemail) }),
        updated_at: now,
        edition: sql`edition + 1`,
      })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .execute();
    if (script) await playSounds(tx, id, script);
    if (knowledgeBaseIds) await attachKnowledgeBases(tx, id, knowledgeBaseIds);
    if (maxConcurrentCalls) await countLiveCalls(tx, toId('agent', id), id);
    if (name !== undefined) await renameOnNumbers(tx, toId('agent', id), name);
    await audit(tx, auditOf('agent.updated', 'agent', toId('agent', id)), now);
    return (await findAgent(tx, id))!;
  });
}

/** Asks a model whether the key that it is given is good; nobody waits for that with a row in hand. */
async function checkNewKey(
  deps: AgentDeps,
  workspaceId: string,
  id: string,
  body: components['schemas']['UpdateAgent'],
): Promise<void> {
  const row = await deps.database.inWorkspace(workspaceId, (tx) => findAgent(tx, id));
  const { terms } = (row && checkedChange(deps, row, body)) ?? {};
  if (!row || !terms) return;
  const { url = row.connection_url!, apiKey } = body.connection!;
  const connection = { terms, url, apiKey, hasBases: false, silenceSeconds: row.silence_seconds };
  await checkKey(deps, workspaceId, modelConnection(connection));
}

/** Throws what is wrong with a change. @returns the terms of a model after it */
function checkedChange(
  { guard, secrets, templateFault }: AgentDeps,
  before: AgentRow,
  body: components['schemas']['UpdateAgent'],
): ReturnType<typeof changedTerms> | undefined {
  const { connection = {} } = body;
  checkKind(before.connection_type, body);
  if (before.connection_type === 'stream') checkConnection(guard, connection);
  if (before.connection_type !== 'realtime') return undefined;
  if (connection.url !== undefined) checkModelUrl(guard, connection.url);
  const had = { terms: termsOf(before), toolHeaders: openToolHeaders(before, secrets) };
  return changedTerms(guard, had, connection, body, templateFault);
}

/** The same of a script; nothing if nothing of it changes. */
function checkedScript(
  { templateFault }: AgentDeps,
  before: AgentRow,
  connection: components['schemas']['UpdateAgentConnection'],
  speechFault: string | undefined,
): ScriptTerms | undefined {
  if (before.connection_type !== 'script' || Object.keys(connection).length === 0) return undefined;
  return changedScript(scriptOf(before), connection, { templateFault, speechFault });
}

/** Numbers show the names of the agents that are bound to them. */
async function renameOnNumbers(tx: WorkspaceTx, agentId: string, name: string): Promise<void> {
  await sql`
    update phone_numbers set
      inbound_agent_name = case when inbound_agent_id = ${agentId} then ${name} else inbound_agent_name end,
      outbound_agent_name = case when outbound_agent_id = ${agentId} then ${name} else outbound_agent_name end
    where workspace_id = ${tx.workspaceId} and ${agentId} in (inbound_agent_id, outbound_agent_id)`.execute(tx.db);
}
