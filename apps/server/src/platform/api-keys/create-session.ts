import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { lacking } from '../../foundation/values/permissions.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { type Asker, auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { KeyRing } from './key-ring.ts';
import { holdKey, type StoredSession } from './key-store.ts';
import { newSessionSecret, SESSION_MS } from './session.ts';
import { deleteSession, type EndedSession, insertSession } from './session-store.ts';

/** What sessions are made and ended with. */
export interface SessionDeps {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  /** Takes one request from the rate of a key or a member, however many addresses they sign in from. Throws `rate_limited`. */
  takeRate(whose: { keyId: string; workspaceId: string; memberId?: string }): void;
}

/** Where a request to sign in comes from. */
export interface From {
  address: string;
  requestId: string;
}

/** A session that was begun, and the secret of its cookie, which can't be read again. */
export interface BegunSession {
  id: string;
  secret: string;
  workspaceId: string;
  keyId: string;
  permissions: readonly string[];
}

/**
 * Begins a session that stands for an API key, which is held meanwhile: once its revocation has committed it begins none.
 * Throws `unauthorized` for what is no key that is valid, and `rate_limited`.
 */
export async function createSession(
  { database, clock, keyRing, takeRate }: SessionDeps,
  apiKey: string,
  from: From,
): Promise<BegunSession> {
  const known = await keyRing.authenticate(apiKey.trim());
  if (!known) throw noKey();
  takeRate(known);
  const { workspaceId, keyId } = known;
  const begun = { id: newUuid(), secret: newSessionSecret(), workspaceId, keyId };
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const key = await holdKey(tx, keyId);
    if (!key || (key.expires_at && key.expires_at <= now)) throw noKey();
    const latest = now.getTime() + SESSION_MS;
    const expiresAt = new Date(Math.min(latest, key.expires_at?.getTime() ?? latest));
    await insertSession(tx, { ...begun, ...from, of: { apiKeyId: keyId }, expiresAt, now });
    const entry = auditOf({ key: { id: keyId }, ...from });
    await audit(tx, entry('session.created', 'session', toId('ses', begun.id)), now);
    return { ...begun, permissions: key.permissions };
  });
}

/** Ends the session of who asks, at once on this server; nothing where it has ended. */
export async function endOwnSession(
  { database, clock, keyRing }: Pick<SessionDeps, 'database' | 'clock' | 'keyRing'>,
  { workspaceId, keyId, memberId, sessionId }: Pick<StoredSession, 'workspaceId' | 'keyId' | 'memberId' | 'sessionId'>,
  from: From,
): Promise<EndedSession | undefined> {
  const ended = await database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const found = await deleteSession(tx, sessionId, now);
    const entry = auditOf({ key: { id: keyId }, memberId, ...from });
    if (found) await audit(tx, entry('session.ended', 'session', toId('ses', sessionId)), now);
    return found;
  });
  if (ended) keyRing.forget(ended.hash);
  return ended;
}

/** Ends the session whose cookie is about to be replaced, if a browser holds one: nobody could end it by it any more. */
export async function endHeldSession(deps: SessionDeps, held: string | undefined, from: From): Promise<void> {
  const session = held === undefined ? undefined : await deps.keyRing.authenticateSession(held);
  if (session) await endOwnSession(deps, session, from);
}

/**
 * Ends a session of the workspace of who asks, at once on this server, for one with the permissions `held`. Throws
 * `not_found`, and `forbidden` where it may do something that the one who asks may not.
 */
export async function endSession(
  { database, clock, keyRing }: SessionDeps,
  context: Asker & { workspaceId: string; key: { permissions: readonly string[] } },
  id: string,
): Promise<void> {
  const hash = await database.inWorkspace(context.workspaceId, async (tx) => {
    const now = clock.now();
    const ended = await deleteSession(tx, id, now);
    if (!ended) throw notFound();
    const more = lacking(context.key.permissions, ended.permissions);
    if (more.length > 0)
      throw new ServiceError('forbidden', `The session has permissions that you lack: ${more.join(', ')}.`);
    await audit(tx, auditOf(context)('session.ended', 'session', toId('ses', id)), now);
    return ended.hash;
  });
  keyRing.forget(hash);
}

const noKey = () => new ServiceError('unauthorized', 'This is no API key, or one that is no longer valid.');
