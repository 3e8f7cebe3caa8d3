import { fromId, newUuid, toId } from '../../foundation/values/ids.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { type BegunSession, endOwnSession, type From, type SessionDeps } from '../api-keys/create-session.ts';
import { newSessionSecret, SESSION_MS } from '../api-keys/session.ts';
import { insertSession } from '../api-keys/session-store.ts';
import { auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { findMember, findMemberships, type Membership, noteSignIn } from '../members/member-store.ts';
import { rolePermissions } from '../members/roles.ts';

/**
 * Begins a session of a member, whose provider has said who it is. Throws `forbidden` for one who was removed meanwhile.
 * @param latest when it ends at the latest, if not after the usual time
 */
export async function signInMember(
  { database, clock }: Pick<SessionDeps, 'database' | 'clock'>,
  { workspaceId, memberId }: Membership,
  from: From,
  latest?: Date,
): Promise<BegunSession> {
  const begun = { id: newUuid(), secret: newSessionSecret(), workspaceId, keyId: memberId };
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const role = await noteSignIn(tx, memberId, now);
    if (!role) throw noMember();
    const expiresAt = latest ?? new Date(now.getTime() + SESSION_MS);
    await insertSession(tx, { ...begun, ...from, of: { memberId }, expiresAt, now });
    const entry = auditOf({ key: { id: memberId }, memberId, ...from });
    await audit(tx, entry('session.created', 'session', toId('ses', begun.id)), now);
    return { ...begun, permissions: rolePermissions[role] };
  });
}

/**
 * Takes a member who is signed in to another of their workspaces: the session ends, and one begins there until the same time.
 * Throws `unauthorized` without such a session, `forbidden` where they are no member, and `rate_limited`.
 * @param held what the browser's cookie holds
 */
export async function changeWorkspace(
  deps: SessionDeps,
  held: string | undefined,
  workspaceId: string,
  from: From,
): Promise<BegunSession> {
  const { database, keyRing, takeRate } = deps;
  const session = held === undefined ? undefined : await keyRing.authenticateSession(held);
  if (session?.memberId === undefined) throw noSession();
  const { memberId } = session;
  takeRate(session);
  const here = await database.inWorkspace(session.workspaceId, (tx) => findMember(tx, memberId));
  const all = here ? await database.inEngine((tx) => findMemberships(tx, here.email)) : [];
  const there = all.find((each) => each.workspaceId === fromId(workspaceId));
  if (!there) throw noMember();
  const ended = await endOwnSession(deps, session, from);
  if (!ended) throw noSession();
  return signInMember(deps, there, from, ended.expiresAt);
}

const noSession = () => new ServiceError('unauthorized', 'No member is signed in here, or not any more.');

/** Refuses who is somebody, but no member. */
export const noMember = () =>
  new ServiceError('forbidden', 'You are no member of a workspace here. Ask an admin for an invitation.');
