import { sql } from 'kysely';
import type { Database, EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';
import type { MemberRow } from './member.ts';
import type { Role } from './roles.ts';

const membersOf = (tx: WorkspaceTx) =>
  tx.db.selectFrom('members').selectAll().where('workspace_id', '=', tx.workspaceId).where('removed_at', 'is', null);

/** A member, by its UUID, who was not removed. */
export const findMember = (tx: WorkspaceTx, id: string): Promise<MemberRow | undefined> =>
  membersOf(tx).where('id', '=', id).executeTakeFirst();

/** The same, who can't be changed or removed until the transaction ends. */
export const holdMember = (tx: WorkspaceTx, id: string): Promise<MemberRow | undefined> =>
  membersOf(tx).where('id', '=', id).forShare().executeTakeFirst();

/** The same, to be changed. */
export const lockMember = (tx: WorkspaceTx, id: string): Promise<MemberRow | undefined> =>
  membersOf(tx).where('id', '=', id).forUpdate().executeTakeFirst();

/** One page of the members, by when they were invited, and how many there are on all pages. */
export const memberPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<MemberRow>> =>
  readPage(tx, page, {
    from: sql`members`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`removed_at is null`],
    search: ['email'],
    order: ['created_at', 'id'],
  });

/** Has changes of who is a member, and of their roles, go one after the other in a workspace, so that they count each other's. */
export async function lockMembers(tx: WorkspaceTx): Promise<void> {
  await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
}

/** How many members there are. */
export async function countMembers(tx: WorkspaceTx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from members where workspace_id = ${tx.workspaceId} and removed_at is null`.execute(tx.db);
  return rows[0]!.count;
}

/** Whether there is an admin who has signed in, beside one of this UUID. */
export async function hasOtherAdmin(tx: WorkspaceTx, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from members where workspace_id = ${tx.workspaceId} and id <> ${id} and role = 'admin'
      and signed_in_at is not null and removed_at is null limit 1`.execute(tx.db);
  return rows.length > 0;
}

/** Keeps a new member; nothing where there is one with this address. */
export const insertMember = (
  tx: WorkspaceTx,
  member: { id: string; email: string; role: Role; now: Date },
): Promise<MemberRow | undefined> =>
  tx.db
    .insertInto('members')
    .values({
      workspace_id: tx.workspaceId,
      id: member.id,
      email: member.email,
      role: member.role,
      created_at: member.now,
      updated_at: member.now,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'email']).where('removed_at', 'is', null).doNothing())
    .returningAll()
    .executeTakeFirst();

/** One person's place in one workspace. */
export interface Membership {
  workspaceId: string;
  workspaceName: string;
  memberId: string;
  role: Role;
}

/** So many workspaces are shown to choose from. */
const MOST_SHOWN = 100;

/** Where somebody with this address, in small letters, is a member: where they have signed in last, then by the workspaces' names. */
export async function findMemberships(tx: EngineTx, email: string): Promise<Membership[]> {
  const { rows } = await sql<Membership>`
    select m.workspace_id as "workspaceId", w.name as "workspaceName", m.id as "memberId", m.role
    from members m join workspaces w on w.id = m.workspace_id
    where m.email = ${email} and m.removed_at is null
    order by m.signed_in_at desc nulls last, w.name, w.id limit ${sql.lit(MOST_SHOWN)}`.execute(tx.db);
  return rows;
}

/** Notes that a member has signed in. Answers their role, or nothing if they were removed. */
export async function noteSignIn(tx: WorkspaceTx, id: string, now: Date): Promise<Role | undefined> {
  const noted = await tx.db
    .updateTable('members')
    .set({ signed_in_at: now })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .returning('role')
    .executeTakeFirst();
  return noted?.role;
}

/** Gives a member that is locked another role. */
export const changeRole = (tx: WorkspaceTx, id: string, role: Role, now: Date): Promise<MemberRow> =>
  tx.db
    .updateTable('members')
    .set({ role, updated_at: now, edition: sql`edition + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Removes a member that is locked, and ends their sessions. The row stays while the audit log names it. */
export async function removeMember(tx: WorkspaceTx, id: string, now: Date): Promise<void> {
  await sql`
    with ended as (delete from sessions where workspace_id = ${tx.workspaceId} and member_id = ${id})
    update members set removed_at = ${now} where workspace_id = ${tx.workspaceId} and id = ${id}`.execute(tx.db);
}

/**
 * Deletes the members, with their addresses, who were removed and whom no entry of the audit log names any more, in small
 * transactions. Servers may do it at once.
 */
export async function deleteRemovedMembers(database: Database, signal?: AbortSignal): Promise<void> {
  await inChunks(async () => {
    const { numAffectedRows } = await database.inEngine(({ db }) =>
      sql`
        delete from members where ctid = any(array(
          select m.ctid from members m where m.removed_at is not null and not exists (
            select from audit_log a where a.workspace_id = m.workspace_id and a.member_id = m.id)
            and not exists (select from sessions s where s.workspace_id = m.workspace_id and s.member_id = m.id)
          limit ${sql.lit(MOST_AT_ONCE)} for update of m skip locked))`.execute(db),
    );
    return Number(numAffectedRows) === MOST_AT_ONCE;
  }, signal);
}
