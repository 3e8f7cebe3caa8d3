import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
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
  return {
    listTrunks: async ({ query }, { workspaceId }) => ({
      status: 200,
      body: await listed(database, workspaceId, query, trunkPage, shaped),
    }),

    createTrunk: async ({ body }, context) => ({
      status: 201,
      body: shaped(await createTrunk(deps, context.workspaceId, body, auditOf(context))),
    }),

    getTrunk: async ({ path }, { workspaceId }) => {
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findTrunk(tx, fromId(path.id))));
      return { status: 200, body: shaped(row) };
    },

    updateTrunk: async ({ path, body }, context) => ({
      status: 200,
      body: shaped(await updateTrunk(deps, context.workspaceId, fromId(path.id), body, auditOf(context))),
    }),

    deleteTrunk: async ({ path }, context) => {
      await deleteTrunk(deps, context.workspaceId, fromId(path.id), auditOf(context));
      return { status: 200, body: { id: path.id, deleted: true } };
    },

    validateTrunk: async ({ path }, { workspaceId }) => ({
      status: 200,
      body: await validateTrunk(deps, workspaceId, fromId(path.id)),
    }),

    pauseTrunk: async ({ path }, context) => ({
      status: 200,
      body: shaped(await pauseTrunk(deps, context.workspaceId, fromId(path.id), auditOf(context))),
    }),

    resumeTrunk: async ({ path }, context) => ({
      status: 200,
      body: shaped(await resumeTrunk(deps, context.workspaceId, fromId(path.id), auditOf(context))),
    }),
  } satisfies Partial<Handlers>;
}
