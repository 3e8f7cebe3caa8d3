import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { lockKnowledgeBase } from '../knowledge-bases/store.ts';

/**
 * Attaches these knowledge bases to an agent, in place of those that were. The bases are locked until the transaction
 * ends, in one order for all. Throws `not_found`, and `knowledge_base_not_ready` for one that is new to the agent.
 * @param ids as clients write them
 */
export async function attachKnowledgeBases(tx: WorkspaceTx, agentId: string, ids: string[]): Promise<void> {
  const attached = await sql<{ knowledge_base_id: string }>`
    delete from agent_knowledge_bases where workspace_id = ${tx.workspaceId} and agent_id = ${agentId}
    returning knowledge_base_id`.execute(tx.db);
  const before = new Set(attached.rows.map((row) => row.knowledge_base_id));
  const wanted = ids.map((id, index) => ({ id: fromId(id), index }));
  for (const { id, index } of wanted.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const base = await lockKnowledgeBase(tx, id);
    if (!base) throw notFound(`/body/knowledgeBaseIds/${index}`);
    if (base.status === 'ready' || before.has(id)) continue;
    const message = `The knowledge base "${base.name}" is ${base.status}. Attach it once it is ready.`;
    throw new ServiceError('knowledge_base_not_ready', message, {
      details: [{ path: `/body/knowledgeBaseIds/${index}`, message }],
    });
  }
  await sql`
    insert into agent_knowledge_bases (workspace_id, agent_id, knowledge_base_id, position)
    select ${tx.workspaceId}, ${agentId}, base.id, base.position
    from unnest(${wanted.map(({ id }) => id)}::uuid[]) with ordinality as base (id, position)`.execute(tx.db);
}
