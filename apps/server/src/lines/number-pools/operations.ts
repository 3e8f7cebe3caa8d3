import { listed, pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { presentNumber } from '../phone-numbers/present-number.ts';
import { createPool } from './create-pool.ts';
import { deletePool } from './delete-pool.ts';
import type { NumberPoolDeps } from './deps.ts';
import { memberPage, presentMember } from './list-members.ts';
import { moveMember } from './move-member.ts';
import { shapePool } from './pool.ts';
import { findPool, poolPage } from './store.ts';
import { updatePool } from './update-pool.ts';
import { validateTrunks } from './validate-trunks.ts';

/** The operations of the tag "Number pools". */
export function numberPoolOperations(deps: NumberPoolDeps) {
  const { database, clock } = deps;
  return {
    listNumberPools: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, poolPage, shapePool)),

    createNumberPool: async ({ body, headers }, context) => {
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createPool(deps, context.workspaceId, body, auditOf(context), key);
      return tagged(replayable(created(shapePool(made)), replayed), made);
    },

    getNumberPool: async ({ path }, { workspaceId }) => {
      const pool = await existing(database.inWorkspace(workspaceId, (tx) => findPool(tx, fromId(path.id))));
      return tagged(ok(shapePool(pool)), pool);
    },

    updateNumberPool: async ({ path, body, headers }, context) => {
      const id = fromId(path.id);
      const auditEntry = auditOf(context)('number_pool.updated', 'number_pool', path.id);
      const pool = await updatePool(deps, context.workspaceId, id, body, auditEntry, headers['If-Match']);
      return tagged(ok(shapePool(pool)), pool);
    },

    deleteNumberPool: async ({ path }, context) => {
      const auditEntry = auditOf(context)('number_pool.deleted', 'number_pool', path.id);
      await deletePool(deps, context.workspaceId, fromId(path.id), auditEntry);
      return ok({ id: path.id, deleted: true as const });
    },

    listNumberPoolMembers: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        const pool = await existing(findPool(tx, fromId(path.id)));
        return memberPage(tx, pool.id, page);
      });
      return ok(pageAnswer(page, found, (row) => presentMember(row, clock.now())));
    },

    moveNumberPoolMember: async ({ path, body }, context) => {
      const auditEntry = auditOf(context)('phone_number.moved', 'phone_number', body.phoneNumberId);
      const number = await moveMember(deps, context.workspaceId, fromId(path.id), body, auditEntry);
      return tagged(ok(presentNumber(number)), number);
    },

    validateNumberPoolTrunks: async ({ path }, { workspaceId }) => {
      const checks = await validateTrunks(deps, workspaceId, fromId(path.id));
      return ok(checks);
    },
  } satisfies Partial<Handlers>;
}
