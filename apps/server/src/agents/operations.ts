import { pageAnswer, pageOf } from '../database/page.ts';
import type { Handlers } from '../http/handler.ts';
import { fromId } from '../ids.ts';
import { auditOf } from '../journal/audit-of.ts';
import { notFound } from '../service-error.ts';
import { presentAgent } from './agent.ts';
import { createAgent } from './create-agent.ts';
import { deleteAgent } from './delete-agent.ts';
import type { AgentDeps } from './deps.ts';
import { agentPage, findAgent } from './store.ts';
import { testAgent } from './test-agent.ts';
import { updateAgent } from './update-agent.ts';

const wrapped = <T>(data: T) => ({ success: true as const, data });

/** The operations of the tag "Agents". */
export function agentOperations(deps: AgentDeps) {
  const { database } = deps;
  return {
    listAgents: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, (tx) => agentPage(tx, page));
      return { status: 200, body: wrapped(pageAnswer(page, found, presentAgent)) };
    },

    createAgent: async ({ body }, context) => {
      const { row, secret } = await createAgent(deps, context.workspaceId, body, auditOf(context));
      return { status: 201, body: wrapped({ agent: presentAgent(row), secret }) };
    },

    getAgent: async ({ path }, { workspaceId }) => {
      const row = await database.inWorkspace(workspaceId, (tx) => findAgent(tx, fromId(path.agentId)));
      if (!row) throw notFound();
      return { status: 200, body: wrapped(presentAgent(row)) };
    },

    updateAgent: async ({ path, body }, context) => {
      const row = await updateAgent(deps, context.workspaceId, fromId(path.agentId), body, auditOf(context));
      return { status: 200, body: wrapped(presentAgent(row)) };
    },

    deleteAgent: async ({ path }, context) => {
      await deleteAgent(deps, context.workspaceId, fromId(path.agentId), auditOf(context));
      return { status: 200, body: wrapped({ id: path.agentId, deleted: true as const }) };
    },

    testAgent: async ({ path }, context) => {
      const tested = await testAgent(deps, context.workspaceId, fromId(path.agentId), auditOf(context));
      return { status: 200, body: wrapped(tested) };
    },
  } satisfies Partial<Handlers>;
}
