import { type SqlBool, sql } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { hashKey, prefixOf } from './key.ts';

export type KeyRow = Row<'api_keys'>;

/** A key as requests are checked against it. */
export interface StoredKey {
  hash: string;
  keyId: string;
  workspaceId: string;
  permissions: readonly string[];
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  /** UUID of the session that stands for the key or the member, whose hash and times these are. */
  sessionId?: string;
  /** UUID of the member that the session stands for: `keyId` is the same then. */
  memberId?: string;
}

/** A session as requests are checked against it. */
export type StoredSession = StoredKey & { sessionId: string };

/** The keys of these hashes (hex), of whichever workspace; those that are revoked left out. */
export async function findKeys(tx: EngineTx, hashes: readonly string[]): Promise<StoredKey[]> {
  const rows = await tx.db
    .selectFrom('api_keys')
    .select(['hash', 'id', 'workspace_id', 'permissions', 'expires_at', 'last_used_at'])
    // An array: one statement, however many they are.
    .where(sql<SqlBool>`hash = any(${hashes.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])`)
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

/** Keeps a key, by its hash. */
export function insertKey(
  tx: EngineTx | WorkspaceTx,
  key: {
    workspaceId: string;
    /** UUID of the row. */
    id: string;
    key: string;
    name: string;
    permissions: readonly string[];
    expiresAt?: Date | undefined;
    now: Date;
  },
): Promise<KeyRow> {
  return tx.db
    .insertInto('api_keys')
    .values({
      workspace_id: key.workspaceId,
      id: key.id,
      hash: Buffer.from(hashKey(key.key), 'hex'),
      name: key.name,
      prefix: prefixOf(key.key),
      permissions: [...key.permissions],
      expires_at: key.expiresAt ?? null,
      created_at: key.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const keysOf = (tx: WorkspaceTx) =>
  tx.db.selectFrom('api_keys').selectAll().where('workspace_id', '=', tx.workspaceId).where('revoked_at', 'is', null);

/** A key that is not revoked, and can't be until the transaction ends. */
export function holdKey(tx: WorkspaceTx, id: string): Promise<KeyRow | undefined> {
  return keysOf(tx).where('id', '=', id).forShare().executeTakeFirst();
}

/** Revokes a key. Answers with its permissions, or nothing where there was none that was not revoked. */
export async function revokeKey(tx: WorkspaceTx, id: string, now: Date): Promise<readonly string[] | undefined> {
  const revoked = await tx.db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('permissions')
    .executeTakeFirst();
  return revoked?.permissions;
}

/** One page of the keys that are not revoked, by when they were made, and how many there are on all pages. */
export const keyPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<KeyRow>> =>
  readPage(tx, page, {
    from: sql`api_keys`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`revoked_at is null`],
    search: ['name', 'prefix'],
    order: ['created_at', 'id'],
  });

/** How many keys of a workspace hold; its row is locked, so that several at once count each other's. */
export async function countKeys(tx: WorkspaceTx, now: Date): Promise<number> {
  await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from api_keys
    where workspace_id = ${tx.workspaceId} and revoked_at is null and coalesce(expires_at > ${now}, true)`.execute(
    tx.db,
  );
  return rows[0]!.count;
}
