import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { presentAgent } from './agent.ts';
import { createAgent } from './create-agent.ts';
import { deleteAgent } from './delete-agent.ts';
import type { AgentDeps } from './deps.ts';
import { prepareSoon } from './script.ts';
import { agentPage, findAgent } from './store.ts';
import { testAgent } from './test-agent.ts';
import { updateAgent } from './update-agent.ts';

/** The operations of the tag "Agents". */
export function agentOperations(deps: AgentDeps) {
  const { database } = deps;
  return {
    listAgents: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, agentPage, presentAgent)),

    createAgent: async ({ body, headers }, context) => {
      const asked = { idempotencyKey: headers['Idempotency-Key'], apiKeyId: context.key.id };
      const { made, replayed } = await createAgent(deps, context.workspaceId, body, auditOf(context), asked);
      const { row, secret } = made;
      prepareSoon(deps.sentences, context.workspaceId, row);
      return tagged(replayable(created({ agent: presentAgent(row), secret }), replayed), row);
    },

    getAgent: async ({ path }, { workspaceId }) => {
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findAgent(tx, fromId(path.agentId))));
      return tagged(ok(presentAgent(row)), row);
    },

    updateAgent: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const id = fromId(path.agentId);
      const row = await updateAgent(deps, workspaceId, id, body, auditOf(context), headers['If-Match']);
      prepareSoon(deps.sentences, workspaceId, row);
      return tagged(ok(presentAgent(row)), row);
    },

    deleteAgent: async ({ path }, context) => {
      await deleteAgent(deps, context.workspaceId, fromId(path.agentId), auditOf(context));
      return ok({ id: path.agentId, deleted: true as const });
    },

    testAgent: async ({ path }, context) => {
      const { workspaceId } = context;
      const test = () => testAgent(deps, workspaceId, fromId(path.agentId), auditOf(context));
      return ok(await deps.inTestSlot(workspaceId, test));
    },
  } satisfies Partial<Handlers>;
}
