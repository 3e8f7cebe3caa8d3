import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { lacking } from '../../foundation/values/permissions.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { type Asker, auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { keptAddress, type MemberRow } from './member.ts';
import {
  changeRole,
  countMembers,
  findMember,
  hasOtherAdmin,
  holdMember,
  insertMember,
  lockMember,
  lockMembers,
  removeMember,
} from './member-store.ts';
import { type Role, rolePermissions } from './roles.ts';

/** What a workspace may have. */
const MOST_MEMBERS = 1000;

/** What members are changed with. */
export interface MemberDeps {
  database: Database;
  clock: Clock;
}

/** Who asks. */
export type Context = Asker & { workspaceId: string; key: { permissions: readonly string[] } };

/**
 * Invites a person. Throws `forbidden` for a role that may do more than who asks, `member_already_exists`, `limit_reached` and
 * `idempotency_key_reused`.
 */
export async function createMember(
  { database, clock }: MemberDeps,
  context: Context,
  body: components['schemas']['CreateMember'],
  idempotencyKey: string | undefined,
): Promise<Made<MemberRow>> {
  const [id, now] = [newUuid(), clock.now()];
  const named = idempotencyKey
    ? { operation: 'createMember', key: idempotencyKey, request: body, resourceId: id, now }
    : undefined;
  return database.inWorkspace(context.workspaceId, (tx) => {
    const make = async () => {
      await lockMembers(tx);
      mayGive(await permissionsOf(tx, context), body.role);
      if ((await countMembers(tx)) >= MOST_MEMBERS)
        throw new ServiceError(
          'limit_reached',
          `A workspace has at most ${MOST_MEMBERS.toLocaleString('en')} members. Remove one first.`,
        );
      const made = await insertMember(tx, { id, email: keptAddress(body.email), role: body.role, now });
      if (!made)
        throw new ServiceError('member_already_exists', 'The workspace has a member with this address already.');
      await audit(tx, auditOf(context)('member.created', 'member', toId('mem', id)), now);
      return made;
    };
    return makeOnce(tx, named, make, (made) => existing(findMember(tx, made)));
  });
}

/**
 * Gives a member another role. Throws `not_found`, `changed_meanwhile`, `forbidden` where one of the two roles may do more
 * than who asks, and `invalid_state` where a member would take it from the last admin.
 */
export async function updateMember(
  { database, clock }: MemberDeps,
  context: Context,
  id: string,
  { role }: components['schemas']['UpdateMember'],
  ifMatch: string | undefined,
): Promise<MemberRow> {
  return database.inWorkspace(context.workspaceId, async (tx) => {
    await lockMembers(tx);
    const held = await permissionsOf(tx, context);
    const before = await existing(lockMember(tx, id));
    checkEdition(before, ifMatch);
    if (role === undefined || role === before.role) return before;
    mayGive(held, before.role);
    mayGive(held, role);
    await keepAnAdmin(tx, context, before);
    const now = clock.now();
    const row = await changeRole(tx, id, role, now);
    await audit(tx, auditOf(context)('member.updated', 'member', toId('mem', id)), now);
    return row;
  });
}

/** Removes a member. Throws `not_found`, `forbidden` and `invalid_state`, as `updateMember` does. */
export async function deleteMember({ database, clock }: MemberDeps, context: Context, id: string): Promise<void> {
  await database.inWorkspace(context.workspaceId, async (tx) => {
    await lockMembers(tx);
    const held = await permissionsOf(tx, context);
    const before = await existing(lockMember(tx, id));
    mayGive(held, before.role);
    await keepAnAdmin(tx, context, before);
    const now = clock.now();
    await removeMember(tx, id, now);
    await audit(tx, auditOf(context)('member.deleted', 'member', toId('mem', id)), now);
  });
}

/** What who asks may do by now: of a member the role may have changed since the request came in. Throws `unauthorized`. */
async function permissionsOf(tx: WorkspaceTx, { key, memberId }: Context): Promise<readonly string[]> {
  if (memberId === undefined) return key.permissions;
  const asking = await holdMember(tx, memberId);
  if (!asking) throw new ServiceError('unauthorized', 'The session has ended. Sign in again.');
  const permissions = rolePermissions[asking.role];
  if (lacking(permissions, ['members:write']).length === 0) return permissions;
  throw new ServiceError('forbidden', 'Your role lacks the permission members:write by now.');
}

function mayGive(held: readonly string[], role: Role): void {
  const more = lacking(held, rolePermissions[role]);
  if (more.length === 0) return;
  throw new ServiceError('forbidden', `The role ${role} has permissions that you lack: ${more.join(', ')}.`);
}

/** Keys can still make another one, so they may. */
async function keepAnAdmin(tx: WorkspaceTx, { memberId }: Context, member: MemberRow): Promise<void> {
  if (memberId === undefined || member.role !== 'admin' || member.signed_in_at === null) return;
  if (await hasOtherAdmin(tx, member.id)) return;
  throw new ServiceError(
    'invalid_state',
    'This is the last admin who has signed in. Make another one first, or do it with an API key.',
  );
}
