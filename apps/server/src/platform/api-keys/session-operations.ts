import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { existing, notFound } from '../../foundation/values/service-error.ts';
import { created, ok } from '../../foundation/values/success.ts';
import { createSession, endSession, type SessionDeps } from './create-session.ts';
import { SESSION_MS } from './session.ts';
import { readCurrent, type SessionRow, sessionPage } from './session-store.ts';

/** The operations of the tag "Sessions". */
export function sessionOperations(deps: SessionDeps) {
  const { database, clock } = deps;

  async function current(who: Who): Promise<components['schemas']['CurrentSession']> {
    const { workspaceId, keyId, sessionId } = who;
    const row = await existing(database.inWorkspace(workspaceId, (tx) => readCurrent(tx, { keyId, sessionId })));
    return {
      ...(sessionId !== undefined && { id: toId('ses', sessionId) }),
      workspaceId: toId('ws', workspaceId),
      workspaceName: row.workspace_name,
      ...(row.key_name !== null && { apiKeyId: toId('key', keyId), apiKeyName: row.key_name }),
      ...(row.email !== null && { memberId: toId('mem', keyId), memberEmail: row.email, role: row.role! }),
      permissions: who.permissions as components['schemas']['Permission'][],
      ...(row.created_at && { createdAt: row.created_at.toISOString() }),
      ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
    };
  }

  return {
    listSessions: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, sessionPage(clock.now()), present)),

    createSession: async ({ body }, context) => {
      const site = context.site();
      const { address, requestId } = context;
      const { secret, id, ...who } = await createSession(deps, body.apiKey, { address, requestId });
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
      const { sessionId } = context;
      if (sessionId === undefined) throw notFound();
      await endSession(deps, context, sessionId);
      const headers = { 'Set-Cookie': context.site().cookie('', 0) };
      return { ...ok({ id: toId('ses', sessionId), deleted: true }), headers };
    },
  } satisfies Partial<Handlers>;
}

interface Who {
  workspaceId: string;
  keyId: string;
  sessionId: string | undefined;
  permissions: readonly string[];
}

const present = (row: SessionRow) => ({
  id: toId('ses', row.id),
  ...(row.key_name !== null && { apiKeyId: toId('key', row.api_key_id!), apiKeyName: row.key_name }),
  ...(row.email !== null && { memberId: toId('mem', row.member_id!), memberEmail: row.email }),
  address: row.address,
  createdAt: row.created_at.toISOString(),
  lastUsedAt: row.last_used_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
});
