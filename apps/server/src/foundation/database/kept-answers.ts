import { sql } from 'kysely';
import { ServiceError } from '../values/service-error.ts';
import type { WorkspaceTx } from './database.ts';
import {
  fingerprintOf,
  type KeyRow,
  keyReused,
  type Made,
  type NamedRequest,
  readKeys,
  takingKeys,
  usedForAnother,
} from './idempotency-keys.ts';
import type { Secrets } from './secrets.ts';

/**
 * A named request that holds a secret, or whose answer can't be read again: because it shows one, or tells of many things.
 * What is needed for the answer is kept with its key, encrypted, and so is its fingerprint, by which a weak password could
 * be guessed.
 */
export interface KeptRequest extends NamedRequest {
  secrets: Secrets;
  /** UUID of the API key that asks, if the answer shows a secret: no other gets it again. */
  onlyFor?: string;
}

/** What a request was named, if it was, and the UUID of the API key that it came with. */
export interface Asked {
  idempotencyKey: string | undefined;
  apiKeyId: string;
}

interface Kept<T> {
  fingerprint: string;
  onlyFor?: string | undefined;
  answer: T;
}

/** What a key's answer is encrypted for. */
export const answerPlace = (workspaceId: string, resourceId: string): string =>
  `idempotency_keys.answer ${workspaceId} ${resourceId}`;

/**
 * Carries something out once for an `Idempotency-Key`, in one transaction with it, as `makeOnce` does. Throws
 * `idempotency_key_reused`, and what the functions throw.
 * @param keep what is kept for the answer: no data of people
 * @param again answers an equal request by it
 */
export async function answerOnce<T, K>(
  tx: WorkspaceTx,
  named: KeptRequest | undefined,
  make: () => Promise<T>,
  keep: (made: T) => K,
  again: (kept: K, resourceId: string) => Promise<T>,
): Promise<Made<T>> {
  if (!named) return { made: await make(), replayed: false };
  const { operation, key, resourceId: resource_id, now: created_at } = named;
  const row = { operation, key, fingerprint: '\\x', resource_id, created_at };
  const taken = await takingKeys(tx.workspaceId, [row]).execute(tx.db);
  if (taken.rows.length === 0) {
    const earlier = await findAnswer<K>(tx, named);
    // Forgotten in between, after 24 hours.
    if (!earlier)
      throw new ServiceError('unavailable', 'The Idempotency-Key has just become free. Send the request again.');
    return { made: await again(earlier.kept, earlier.resourceId), replayed: true };
  }
  const made = await make();
  const kept: Kept<K> = { fingerprint: fingerprintOf(named.request), onlyFor: named.onlyFor, answer: keep(made) };
  const sealed = named.secrets.encrypt(JSON.stringify(kept), answerPlace(tx.workspaceId, named.resourceId));
  await sql`
    update idempotency_keys set answer = ${sealed}
    where workspace_id = ${tx.workspaceId} and operation = ${named.operation} and key = ${named.key}`.execute(tx.db);
  return { made, replayed: false };
}

/** What an equal request before this one has kept, if there was one. It takes nothing. Throws `idempotency_key_reused`. */
export async function findAnswer<K>(
  tx: WorkspaceTx,
  named: KeptRequest,
): Promise<{ kept: K; resourceId: string } | undefined> {
  const row = (await readKeys(tx, [named])).get(named.key);
  if (!row) return undefined;
  const [resourceId, sealed] = [row.resource_id!, row.answer!];
  let kept: Kept<K>;
  try {
    kept = JSON.parse(named.secrets.decrypt(sealed, answerPlace(tx.workspaceId, resourceId)));
  } catch {
    throw unreadable(row);
  }
  if (kept.fingerprint !== fingerprintOf(named.request)) throw usedForAnother(row);
  if (kept.onlyFor !== named.onlyFor) throw usedByAnother(row);
  return { kept: kept.answer, resourceId };
}

const unreadable = ({ created_at }: KeyRow) =>
  keyReused(
    'The answer to this Idempotency-Key can be read no more: the key of the server was changed. Look whether the request was carried out, and send a new key.',
    `was used at ${created_at.toISOString()}`,
  );

const usedByAnother = ({ created_at }: KeyRow) =>
  keyReused(
    'The answer to this Idempotency-Key shows a secret. Only the API key that asked first gets it again. Send a new key.',
    `was used by another API key at ${created_at.toISOString()}`,
  );
