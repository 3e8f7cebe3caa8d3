import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Edited } from '../../foundation/values/edition.ts';
import type { AgentRow } from './agent-row.ts';

/** The columns of an agent, `a`. */
export const withKnowledgeBases = sql<AgentRow>`a.*, array(
  select b.knowledge_base_id from agent_knowledge_bases b
  where b.workspace_id = a.workspace_id and b.agent_id = a.id order by b.position) as knowledge_base_ids,
  (select json_build_object('since', h.failing_since, 'reason', h.reason) from agent_health h
    where h.workspace_id = a.workspace_id and h.agent_id = 'agent_' || replace(a.id::text, '-', '')
      and h.failing_since is not null) as failing`;

/** An agent, by its UUID. */
export async function findAgent(tx: WorkspaceTx, id: string): Promise<AgentRow | undefined> {
  const { rows } = await sql<AgentRow>`
    select ${withKnowledgeBases} from agents a where a.workspace_id = ${tx.workspaceId} and a.id = ${id}`.execute(
    tx.db,
  );
  return rows[0];
}

/** The edition of an agent, which is locked until the transaction ends: `update` waits for calls that are being placed. */
export async function lockAgent(
  tx: WorkspaceTx,
  id: string,
  lock: 'update' | 'no key update' | 'key share',
): Promise<Edited | undefined> {
  const { rows } = await sql<Edited>`
    select edition from agents where workspace_id = ${tx.workspaceId} and id = ${id} for ${sql.raw(lock)}`.execute(
    tx.db,
  );
  return rows[0];
}

/** One page of agents, and how many there are on all pages. */
export const agentPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<AgentRow>> =>
  readPage(tx, page, {
    columns: withKnowledgeBases,
    from: sql`agents a`,
    where: [sql`a.workspace_id = ${tx.workspaceId}`],
    search: ['a.name'],
    order: ['a.created_at', 'a.id'],
  });
