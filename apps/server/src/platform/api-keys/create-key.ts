import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { lacking } from '../../foundation/values/permissions.ts';
import { existing, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { holdMember, lockMembers } from '../members/member-store.ts';
import { rolePermissions } from '../members/roles.ts';
import { newKey } from './key.ts';
import { countKeys, holdKey, insertKey, type KeyRow, revokeKey } from './key-store.ts';
import { deleteSessionsOf } from './session-store.ts';

/** What a workspace may have that hold. */
const MOST_KEYS = 1000;

/** What keys are made with. */
export interface KeyDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
}

type Body = components['schemas']['CreateApiKey'];

/** A key, which can't be read again, and its row. */
interface CreatedKey {
  key: string;
  row: KeyRow;
}

/**
 * Makes a key for the workspace of the API key or the member that asks, which is held meanwhile: once its revocation has committed it
 * makes no other. Throws `invalid_request` for an `expiresAt` that has passed, `forbidden` for permissions that the
 * creator lacks, `unauthorized` where the creator was revoked or has expired since the request came in,
 * `limit_reached` where the workspace has as many as it may, and `idempotency_key_reused`.
 */
export async function createApiKey(
  { database, clock, secrets }: KeyDeps,
  workspaceId: string,
  body: Body,
  auditOf: AuditOf,
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<CreatedKey>> {
  const [id, now] = [newUuid(), clock.now()];
  const operation = 'createApiKey';
  const named = idempotencyKey
    ? { operation, key: idempotencyKey, request: body, resourceId: id, now, secrets, onlyFor: apiKeyId }
    : undefined;
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      async () => {
        const made = await createKeyBy(tx, apiKeyId, body, { id, now });
        await audit(tx, auditOf('api_key.created', 'api_key', toId('key', id)), now);
        return made;
      },
      (made) => made.key,
      async (shown, made) => ({ key: shown, row: await existing(holdKey(tx, made)) }),
    ),
  );
}

async function createKeyBy(
  tx: WorkspaceTx,
  creatorId: string,
  body: Body,
  { id, now }: { id: string; now: Date },
): Promise<CreatedKey> {
  const expiresAt = body.expiresAt === undefined ? undefined : new Date(body.expiresAt);
  if (expiresAt && expiresAt <= now) throw refuse('invalid_request', 'expiresAt', 'must lie in the future');
  const more = lacking(await permissionsOf(tx, creatorId, now), body.permissions);
  if (more.length > 0) throw refuse('forbidden', 'permissions', `must be your own, and you lack ${more.join(', ')}`);
  if ((await countKeys(tx, now)) >= MOST_KEYS)
    throw new ServiceError(
      'limit_reached',
      `A workspace has at most ${MOST_KEYS.toLocaleString('en')} API keys. Revoke one first.`,
    );
  const key = newKey();
  const { name, permissions } = body;
  return { key, row: await insertKey(tx, { workspaceId: tx.workspaceId, id, key, name, permissions, expiresAt, now }) };
}

/** What who makes a key may do, who is held meanwhile: a key or a member. */
async function permissionsOf(tx: WorkspaceTx, creatorId: string, now: Date): Promise<readonly string[]> {
  const key = await holdKey(tx, creatorId);
  if (key && !(key.expires_at && key.expires_at <= now)) return key.permissions;
  if (key) throw over();
  // First, as changes of members do: they would wait for the member who is held, and this for them.
  await lockMembers(tx);
  const member = await holdMember(tx, creatorId);
  if (!member) throw over();
  const permissions = rolePermissions[member.role];
  if (lacking(permissions, ['api_keys:write']).length === 0) return permissions;
  throw new ServiceError('forbidden', 'Your role lacks the permission api_keys:write by now.');
}

/**
 * Revokes a key of the workspace for one with the permissions `held`. Throws `not_found`, and `forbidden` where the key may
 * do something that the one who asks may not: what can make no such key can't take it away either.
 */
export async function revokeKeyBy(tx: WorkspaceTx, held: readonly string[], id: string, now: Date): Promise<void> {
  const permissions = await revokeKey(tx, id, now);
  if (!permissions) throw notFound();
  await deleteSessionsOf(tx, id);
  const more = lacking(held, permissions);
  if (more.length === 0) return;
  throw new ServiceError('forbidden', `The key to be revoked has permissions that you lack: ${more.join(', ')}.`);
}

const over = () => new ServiceError('unauthorized', 'The key or the member of this request is no longer there.');
const refuse = (code: 'invalid_request' | 'forbidden', field: string, message: string) =>
  new ServiceError(code, `${field} ${message}.`, { details: [{ path: `/body/${field}`, message }] });
