import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { type CreateErasureDeps, createErasure } from './create-erasure.ts';
import { shapeErasure } from './erasure.ts';
import { erasurePage, findErasure } from './store.ts';

/** The operations of the tag "Erasures". */
export function erasureOperations(deps: CreateErasureDeps) {
  const { database } = deps;
  return {
    createErasure: async ({ body, headers }, context) => {
      const number = Number(body.phoneNumber.slice(1));
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createErasure(deps, context.workspaceId, number, key, auditOf(context));
      return replayable({ status: 202 as const, body: shapeErasure(made) }, replayed);
    },
    listErasures: async ({ query }, { workspaceId }) => ({
      status: 200,
      body: await listed(database, workspaceId, query, erasurePage, shapeErasure),
    }),
    getErasure: async ({ path: { erasureId } }, { workspaceId }) => {
      const find = existing(database.inWorkspace(workspaceId, (tx) => findErasure(tx, workspaceId, fromId(erasureId))));
      return { status: 200, body: shapeErasure(await find) };
    },
  } satisfies Partial<Handlers>;
}
