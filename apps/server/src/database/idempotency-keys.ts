import { hash } from 'node:crypto';
import { ServiceError } from '../service-error.ts';
import type { Database, WorkspaceTx } from './database.ts';

/** A request that its client has named, so that it can be sent twice and carried out once. */
export interface NamedRequest {
  /** The operation's ID; a key belongs to one of them. */
  operation: string;
  key: string;
  /** What makes requests equal. */
  request: object;
  /** UUID of the resource that is made if this request is the first. */
  resourceId: string;
  now: Date;
}

/**
 * Takes an `Idempotency-Key`, waiting for a transaction that is just taking it. Returns the UUID of the resource that the
 * key stands for: this one's where it was free, else the first one's. Throws `idempotency_key_reused`.
 */
export async function takeIdempotencyKey(tx: WorkspaceTx, named: NamedRequest): Promise<string> {
  const fingerprint = hash('sha256', JSON.stringify(named.request), 'buffer');
  const taken = await tx.db
    .insertInto('idempotency_keys')
    .values({
      workspace_id: tx.workspaceId,
      operation: named.operation,
      key: named.key,
      fingerprint,
      resource_id: named.resourceId,
      created_at: named.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('resource_id')
    .executeTakeFirst();
  if (taken) return named.resourceId;
  // A second statement: the first one's snapshot may be older than the winner of a race.
  const winner = await tx.db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'resource_id'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('operation', '=', named.operation)
    .where('key', '=', named.key)
    .executeTakeFirst();
  // Given back in between: the caller's next try finds it free.
  if (!winner?.resource_id) throw inProgress();
  if (!winner.fingerprint.equals(fingerprint)) {
    const message = 'This Idempotency-Key was used for another request. Send a new key.';
    throw new ServiceError('idempotency_key_reused', message);
  }
  return winner.resource_id;
}

/** Frees the key that stands for a resource, since nothing came of its request. */
export async function freeIdempotencyKey(tx: WorkspaceTx, operation: string, resourceId: string): Promise<void> {
  await tx.db
    .deleteFrom('idempotency_keys')
    .where('workspace_id', '=', tx.workspaceId)
    .where('operation', '=', operation)
    .where('resource_id', '=', resourceId)
    .execute();
}

const KEPT_MS = 24 * 3600 * 1000;

/** Forgets the keys that were taken more than 24 hours ago. */
export async function deleteOldIdempotencyKeys(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await database.inEngine((tx) => tx.db.deleteFrom('idempotency_keys').where('created_at', '<', before).execute());
}

/** The refusal of a request while an equal one is being carried out. */
export const inProgress = () =>
  new ServiceError(
    'idempotency_in_progress',
    'The request with this Idempotency-Key is still being carried out. Send it again in a moment.',
  );
