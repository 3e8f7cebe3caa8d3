import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { detailsOfUse } from '../../platform/workspace/details-of-use.ts';
import type { AgentDeps } from './deps.ts';
import { lockAgent } from './store.ts';

/**
 * Deletes an agent. Throws `not_found`, and `agent_in_use` with who uses it: a number, an active campaign or batch, a
 * call that waits, or a published workflow. A draft that names it can't be started or published any more.
 */
export async function deleteAgent(
  { database, clock }: Pick<AgentDeps, 'database' | 'clock'>,
  workspaceId: string,
  id: string,
  auditOf: AuditOf,
): Promise<void> {
  const agentId = toId('agent', id);
  await database.inWorkspace(workspaceId, async (tx) => {
    if (!(await lockAgent(tx, id, 'update'))) throw notFound();
    const use = await useOf(tx, agentId);
    if (use !== undefined) {
      const details = await detailsOfUse(tx, 'agent_id', agentId);
      throw new ServiceError('agent_in_use', use, details.length > 0 ? { details } : {});
    }
    await tx.db.deleteFrom('agents').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
    await audit(tx, auditOf('agent.deleted', 'agent', agentId), clock.now());
  });
}

const messages = {
  number: (name: string) => `The number ${name} is bound to this agent. Bind another one first.`,
  campaign: (name: string) => `The campaign "${name}" uses this agent. Stop it first, or change its agent.`,
  batch: () => 'A batch uses this agent. Cancel it first.',
  call: (name: string) => `The call ${toId('room', name)} waits for this agent. End it first.`,
  workflow: (name: string) => `The workflow "${name}" uses this agent. Publish it with another one first.`,
};

/** Who uses an agent, as a sentence with what to do; undefined where nobody does. */
async function useOf(tx: WorkspaceTx, agentId: string): Promise<string | undefined> {
  const { rows } = await sql<{ kind: keyof typeof messages; name: string }>`
    (select 'number' as kind, phone_number as name from phone_numbers
      where workspace_id = ${tx.workspaceId} and status <> 'released' and ${agentId} in (inbound_agent_id, outbound_agent_id)
      limit 1)
    union all
    (select kind, name from campaigns
      where workspace_id = ${tx.workspaceId} and agent_id = ${agentId} and status in ('scheduled', 'running', 'paused')
      limit 1)
    union all
    (select 'call', id::text from call_intents
      where workspace_id = ${tx.workspaceId} and agent_id = ${agentId} and next_attempt_at is not null limit 1)
    union all
    (select 'workflow', w.name from workflows w
      join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.id and v.version = w.version
      where w.workspace_id = ${tx.workspaceId}
        and jsonb_path_exists(v.definition::jsonb, '$.nodes[*] ? (@.agentId == $agent)',
          jsonb_build_object('agent', ${agentId}::text))
      limit 1)`.execute(tx.db);
  const [use] = rows;
  return use && messages[use.kind](use.name);
}
