import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { createApiKey, type KeyDeps, revokeKeyBy } from './create-key.ts';
import { createStreamToken } from './create-stream-token.ts';
import { type KeyRow, keyPage } from './key-store.ts';
import type { StreamTokens } from './stream-tokens.ts';

/** The operations of the tag "API keys". */
export function apiKeyOperations(deps: KeyDeps & { streamTokens: StreamTokens }) {
  const { database, clock } = deps;
  return {
    listApiKeys: async ({ query }, { workspaceId }) => ok(await listed(database, workspaceId, query, keyPage, present)),

    createApiKey: async ({ body, headers }, context) => {
      const asked = { idempotencyKey: headers['Idempotency-Key'], apiKeyId: context.key.id };
      const { made, replayed } = await createApiKey(deps, context.workspaceId, body, auditOf(context), asked);
      return replayable(created({ ...present(made.row), key: made.key }), replayed);
    },

    revokeApiKey: async ({ path: { keyId } }, context) => {
      await database.inWorkspace(context.workspaceId, async (tx) => {
        const now = clock.now();
        await revokeKeyBy(tx, context.key.permissions, fromId(keyId), now);
        await audit(tx, auditOf(context)('api_key.revoked', 'api_key', keyId), now);
      });
      return ok({ id: keyId, deleted: true });
    },

    createStreamToken: async ({ body, headers }, context) => {
      const asked = { idempotencyKey: headers['Idempotency-Key'], apiKeyId: context.key.id };
      const { made, replayed } = await createStreamToken(deps, context, body, asked);
      return replayable(created(made), replayed);
    },
  } satisfies Partial<Handlers>;
}

const present = (row: KeyRow) => ({
  id: toId('key', row.id),
  name: row.name,
  prefix: row.prefix,
  permissions: row.permissions as components['schemas']['Permission'][],
  ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
  ...(row.last_used_at && { lastUsedAt: row.last_used_at.toISOString() }),
  createdAt: row.created_at.toISOString(),
});
