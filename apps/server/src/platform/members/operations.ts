import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { createMember, deleteMember, type MemberDeps, updateMember } from './change-members.ts';
import { presentMember } from './member.ts';
import { findMember, memberPage } from './member-store.ts';

/** The operations of the tag "Members". */
export function memberOperations(deps: MemberDeps) {
  const { database } = deps;
  return {
    listMembers: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, memberPage, presentMember)),

    createMember: async ({ body, headers }, context) => {
      const { made, replayed } = await createMember(deps, context, body, headers['Idempotency-Key']);
      return tagged(replayable(created(presentMember(made)), replayed), made);
    },

    getMember: async ({ path: { memberId } }, { workspaceId }) => {
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findMember(tx, fromId(memberId))));
      return tagged(ok(presentMember(row)), row);
    },

    updateMember: async ({ path: { memberId }, body, headers }, context) => {
      const row = await updateMember(deps, context, fromId(memberId), body, headers['If-Match']);
      return tagged(ok(presentMember(row)), row);
    },

    deleteMember: async ({ path: { memberId } }, context) => {
      await deleteMember(deps, context, fromId(memberId));
      return ok({ id: memberId, deleted: true });
    },
  } satisfies Partial<Handlers>;
}
