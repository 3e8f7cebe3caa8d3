import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { createTrunk } from './create-trunk.ts';
import { deleteTrunk } from './delete-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import { pauseTrunk, resumeTrunk } from './pause-trunk.ts';
import { type CountedTrunk, shapeTrunk } from './shape-trunk.ts';
import { findTrunk, trunkPage } from './store.ts';
import { updateTrunk } from './update-trunk.ts';
import { validateTrunk } from './validate-trunk.ts';

/** The operations of the tag "Trunks". */
export function trunkOperations(deps: TrunkDeps) {
  const { database, clock } = deps;
  const shaped = (row: CountedTrunk) => shapeTrunk(row, clock.now());
  const shown = (row: CountedTrunk) => tagged({ status: 200 as const, body: shaped(row) }, row);
  return {
    listTrunks: async ({ query }, { workspaceId }) => ({
      status: 200,
      body: await listed(database, workspaceId, query, trunkPage, shaped),
    }),

    createTrunk: async ({ body, headers }, context) => {
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createTrunk(deps, context.workspaceId, body, auditOf(context), key);
      return tagged(replayable({ status: 201 as const, body: shaped(made) }, replayed), made);
    },

    getTrunk: async ({ path }, { workspaceId }) => {
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findTrunk(tx, fromId(path.trunkId))));
      return shown(row);
    },

    updateTrunk: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const ifMatch = headers['If-Match'];
      return shown(await updateTrunk(deps, workspaceId, fromId(path.trunkId), body, auditOf(context), ifMatch));
    },

    deleteTrunk: async ({ path }, context) => {
      await deleteTrunk(deps, context.workspaceId, fromId(path.trunkId), auditOf(context));
      return { status: 200, body: { id: path.trunkId, deleted: true } };
    },

    validateTrunk: async ({ path }, { workspaceId }) => ({
      status: 200,
      body: await validateTrunk(deps, workspaceId, fromId(path.trunkId)),
    }),

    pauseTrunk: async ({ path }, context) =>
      shown(await pauseTrunk(deps, context.workspaceId, fromId(path.trunkId), auditOf(context))),

    resumeTrunk: async ({ path }, context) =>
      shown(await resumeTrunk(deps, context.workspaceId, fromId(path.trunkId), auditOf(context))),
  } satisfies Partial<Handlers>;
}
