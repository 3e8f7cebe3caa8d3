import { listed } from '../../foundation/database/page.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Handlers, Site } from '../../foundation/http/handler.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { lacking } from '../../foundation/values/permissions.ts';
import { existing, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { created, ok } from '../../foundation/values/success.ts';
import {
  type BegunSession,
  createSession,
  endHeldSession,
  endOwnSession,
  endSession,
  type From,
  type SessionDeps,
} from '../api-keys/create-session.ts';
import { SESSION_MS } from '../api-keys/session.ts';
import { readCurrent, type SessionRow, sessionPage } from '../api-keys/session-store.ts';
import { findMemberships } from '../members/member-store.ts';
import { BEGUN_SECONDS, openBegun, sealBegun } from './begun.ts';
import type { CameBack, IdentityProvider } from './identity-provider.ts';
import { changeWorkspace, noMember, signInMember } from './sign-in-member.ts';

/** What sessions are begun with. */
export type SignInDeps = SessionDeps & { secrets: Secrets; provider: IdentityProvider | undefined };

/** The operations of the tag "Sessions". */
export function sessionOperations(deps: SignInDeps) {
  const { database, clock, secrets, provider, takeRate } = deps;

  async function current(who: Who): Promise<components['schemas']['CurrentSession']> {
    const { workspaceId, keyId, sessionId } = who;
    const row = await existing(database.inWorkspace(workspaceId, (tx) => readCurrent(tx, { keyId, sessionId })));
    const { email } = row;
    const workspaces = email === null ? [] : await database.inEngine((tx) => findMemberships(tx, email));
    return {
      ...(sessionId !== undefined && { id: toId('ses', sessionId) }),
      workspaceId: toId('ws', workspaceId),
      workspaceName: row.workspace_name,
      ...(row.key_name !== null && { apiKeyId: toId('key', keyId), apiKeyName: row.key_name }),
      ...(row.email !== null && { memberId: toId('mem', keyId), memberEmail: row.email, role: row.role! }),
      ...(workspaces.length > 1 && {
        workspaces: workspaces.map((each) => ({
          ...{ id: toId('ws', each.workspaceId), name: each.workspaceName, role: each.role },
        })),
      }),
      permissions: who.permissions as components['schemas']['Permission'][],
      ...(row.created_at && { createdAt: row.created_at.toISOString() }),
      ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
    };
  }

  /** Who comes back from the provider. */
  async function comeBack(back: CameBack, site: Site, from: From): Promise<BegunSession> {
    if (!provider) throw noProvider();
    const begun = openBegun(secrets, site.held, clock.now());
    if (!begun) throw overdue();
    const email = await provider.finish(begun, back);
    const [membership] = await database.inEngine((tx) => findMemberships(tx, email));
    if (!membership) throw noMember();
    takeRate({ ...membership, keyId: membership.memberId });
    return signInMember(deps, membership, from);
  }

  return {
    startSignIn: async (_input, context) => {
      const site = context.site();
      if (!provider) throw noProvider();
      const { url, begun } = await provider.begin(`${site.origin}/console/sign-in`);
      await endHeldSession(deps, site.held, fromOf(context));
      const cookie = site.cookie(sealBegun(secrets, begun, clock.now()), BEGUN_SECONDS);
      return { ...ok({ url }), headers: { 'Set-Cookie': cookie } };
    },

    listSessions: async ({ query }, { workspaceId, key }) => {
      const seesMembers = lacking(key.permissions, ['members:read']).length === 0;
      return ok(await listed(database, workspaceId, query, sessionPage(clock.now()), presentTo(seesMembers)));
    },

    createSession: async ({ body }, context) => {
      const site = context.site();
      const from = fromOf(context);
      const begin = async () => {
        if ('apiKey' in body) return createSession(deps, body.apiKey, from);
        return 'code' in body ? comeBack(body, site, from) : changeWorkspace(deps, site.held, body.workspaceId, from);
      };
      const { secret, id, ...who } = await begin();
      await endHeldSession(deps, site.held, from);
      const headers = { 'Set-Cookie': site.cookie(secret, SESSION_MS / 1000) };
      return { ...created(await current({ ...who, sessionId: id })), headers };
    },

    revokeSession: async ({ path: { sessionId } }, context) => {
      await endSession(deps, context, fromId(sessionId));
      return ok({ id: sessionId, deleted: true });
    },

    getCurrentSession: async (_input, { workspaceId, sessionId, key }) =>
      ok(await current({ workspaceId, sessionId, keyId: key.id, permissions: key.permissions })),

    endCurrentSession: async (_input, context) => {
      const { workspaceId, key, memberId, sessionId } = context;
      const own = sessionId !== undefined && { workspaceId, keyId: key.id, ...(memberId && { memberId }), sessionId };
      if (!own || !(await endOwnSession(deps, own, fromOf(context)))) throw notFound();
      const headers = { 'Set-Cookie': context.site().cookie('', 0) };
      return { ...ok({ id: toId('ses', sessionId), deleted: true }), headers };
    },
  } satisfies Partial<Handlers>;
}

const fromOf = ({ address, requestId }: From): From => ({ address, requestId });

const noProvider = () =>
  new ServiceError(
    'no_identity_provider',
    'This server knows no identity provider: OIDC_ISSUER is not set. Sign in with an API key.',
  );

const overdue = () =>
  new ServiceError(
    'unauthorized',
    'This sign-in was begun in another browser, or more than ten minutes ago. Begin it again.',
  );

interface Who {
  workspaceId: string;
  keyId: string;
  sessionId: string | undefined;
  permissions: readonly string[];
}

/** A session as who asks sees it: members' addresses only if they may read members. */
const presentTo = (seesMembers: boolean) => (row: SessionRow) => ({
  id: toId('ses', row.id),
  ...(row.key_name !== null && { apiKeyId: toId('key', row.api_key_id!), apiKeyName: row.key_name }),
  ...(row.member_id !== null && { memberId: toId('mem', row.member_id) }),
  ...(seesMembers && row.email !== null && { memberEmail: row.email }),
  address: row.address,
  createdAt: row.created_at.toISOString(),
  lastUsedAt: row.last_used_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
});
