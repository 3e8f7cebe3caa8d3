import type { EngineTx } from '../database/database.ts';
import { newUuid } from '../ids.ts';
import { hashKey, prefixOf } from './key.ts';

/** A key as it is kept. */
export interface StoredKey {
  hash: string;
  keyId: string;
  workspaceId: string;
  permissions: readonly string[];
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

/** The keys of these hashes (hex), of whichever workspace; those that are revoked left out. */
export async function findKeys(tx: EngineTx, hashes: readonly string[]): Promise<StoredKey[]> {
  const rows = await tx.db
    .selectFrom('api_keys')
    .select(['hash', 'id', 'workspace_id', 'permissions', 'expires_at', 'last_used_at'])
    .where(
      'hash',
      'in',
      hashes.map((hash) => Buffer.from(hash, 'hex')),
    )
    .where('revoked_at', 'is', null)
    .execute();
  return rows.map((row) => ({
    hash: row.hash.toString('hex'),
    keyId: row.id,
    workspaceId: row.workspace_id,
    permissions: row.permissions,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** Notes the use of a key, unless a use since `notSince` stands already. */
export async function touchKey(tx: EngineTx, key: StoredKey, now: Date, notSince: Date): Promise<void> {
  await tx.db
    .updateTable('api_keys')
    .set({ last_used_at: now })
    .where('workspace_id', '=', key.workspaceId)
    .where('id', '=', key.keyId)
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<=', notSince)]))
    .execute();
}

/** Whether any key was ever made. */
export async function anyKeyExists(tx: EngineTx): Promise<boolean> {
  return (await tx.db.selectFrom('api_keys').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Keeps a key, by its hash. Returns its UUID. */
export async function insertKey(
  tx: EngineTx,
  key: { workspaceId: string; key: string; name: string; permissions: readonly string[]; now: Date },
): Promise<string> {
  const id = newUuid();
  await tx.db
    .insertInto('api_keys')
    .values({
      workspace_id: key.workspaceId,
      id,
      hash: Buffer.from(hashKey(key.key), 'hex'),
      name: key.name,
      prefix: prefixOf(key.key),
      permissions: [...key.permissions],
      created_at: key.now,
    })
    .execute();
  return id;
}
