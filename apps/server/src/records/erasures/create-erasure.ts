import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { answerOnce } from '../../foundation/database/kept-answers.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { isOwnNumber } from '../../lines/phone-numbers/own-number.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { ErasureDeps } from './deps.ts';
import { isOnACall } from './erase-calls.ts';
import type { ErasureRow } from './erasure.ts';
import { findErasure } from './store.ts';

/** What asking for an erasure works with. */
export interface CreateErasureDeps extends Pick<ErasureDeps, 'database' | 'clock'> {
  secrets: Secrets;
}

/** Erasures of a workspace that may be under way. */
const MOST_RUNNING = 100;

/**
 * Asks for all that is kept about a number to be erased, which a loop does.
 * @param number E.164 without the plus
 * @throws `invalid_state` while a call with the number is up, and for a number of the workspace's own; `limit_reached`;
 *   `idempotency_key_reused`
 */
export async function createErasure(
  { database, clock, secrets }: CreateErasureDeps,
  workspaceId: string,
  number: number,
  idempotencyKey: string | undefined,
  auditOf: AuditOf,
): Promise<Made<ErasureRow>> {
  const [id, now] = [newUuid(), clock.now()];
  // All numbers can be hashed in no time, so that the hash of this one is kept sealed.
  const named = idempotencyKey
    ? { operation: 'createErasure', key: idempotencyKey, request: { number }, resourceId: id, now, secrets }
    : undefined;
  const make = async (tx: WorkspaceTx) => {
    await refuse(tx, number);
    await sql`
      insert into erasures (workspace_id, id, status, phone_number, due_at, created_at)
      values (${workspaceId}, ${id}, 'running', ${number}, ${now}, ${now})`.execute(tx.db);
    await sql`
      update workspaces set trusted_numbers = array_remove(trusted_numbers, ${number}::bigint), edition = edition + 1
      where id = ${workspaceId} and ${number}::bigint = any(trusted_numbers)`.execute(tx.db);
    await audit(tx, auditOf('erasure.created', 'erasure', toId('ers', id)), now);
    return existing(findErasure(tx, workspaceId, id));
  };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce<ErasureRow, null>(
      tx,
      named,
      () => make(tx),
      () => null,
      (_nothing, made) => existing(findErasure(tx, workspaceId, made)),
    ),
  );
}

async function refuse(tx: WorkspaceTx, number: number): Promise<void> {
  const { workspaceId } = tx;
  // One after the other, or two that count at once would be one too many.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`erasures ${workspaceId}`}, 0))`.execute(tx.db);
  const { rows } = await sql<{ running: number }>`
    select count(*) as running from erasures where workspace_id = ${workspaceId} and status = 'running'`.execute(tx.db);
  const { running } = rows[0]!;
  if (await isOwnNumber(tx, number))
    throw new ServiceError(
      'invalid_state',
      'This is, or was, a number of your own: what is kept about it is about all who were called from it.',
    );
  if (await isOnACall(tx, workspaceId, number))
    throw new ServiceError('invalid_state', 'A call with this number is up. End it, or wait until it is over.');
  if (running >= MOST_RUNNING)
    throw new ServiceError(
      'limit_reached',
      `${MOST_RUNNING} erasures of this workspace are under way. Wait until some are completed.`,
    );
}
