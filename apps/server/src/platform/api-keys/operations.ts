import type { Database } from '../../foundation/database/database.ts';
import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { created, ok } from '../../foundation/values/success.ts';
import { auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { createKeyBy, revokeKeyBy } from './create-key.ts';
import { type KeyRow, keyPage } from './key-store.ts';
import type { StreamTokens } from './stream-tokens.ts';

/** The operations of the tag "API keys". */
export function apiKeyOperations({
  database,
  clock,
  streamTokens,
}: {
  database: Database;
  clock: Clock;
  streamTokens: StreamTokens;
}) {
  return {
    listApiKeys: async ({ query }, { workspaceId }) => ok(await listed(database, workspaceId, query, keyPage, present)),

    createApiKey: async ({ body }, context) => {
      const { key, row } = await database.inWorkspace(context.workspaceId, async (tx) => {
        const now = clock.now();
        const made = await createKeyBy(tx, context.key.id, body, now);
        await audit(tx, auditOf(context)('api_key.created', 'api_key', toId('key', made.row.id)), now);
        return made;
      });
      return created({ ...present(row), key });
    },

    revokeApiKey: async ({ path: { keyId } }, context) => {
      await database.inWorkspace(context.workspaceId, async (tx) => {
        const now = clock.now();
        await revokeKeyBy(tx, context.key.permissions, fromId(keyId), now);
        await audit(tx, auditOf(context)('api_key.revoked', 'api_key', keyId), now);
      });
      return ok({ id: keyId, deleted: true });
    },

    createStreamToken: async ({ body }, { key }) => {
      const { token, expiresAt } = streamTokens.make(key.hash, body.path);
      return { status: 201, body: { token, expiresAt: expiresAt.toISOString() } };
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
