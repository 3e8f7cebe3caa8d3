import { type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { NumberPoolDeps } from './deps.ts';
import { addMembers, holdNumbers } from './members.ts';
import type { CountedPool } from './pool.ts';
import { findPool } from './store.ts';

type Body = components['schemas']['CreateNumberPool'];

/**
 * Makes a pool, with members where the body names some. Throws `not_found` for an unknown number and
 * `number_in_other_pool`, and `idempotency_key_reused`; nothing is made then.
 */
export async function createPool(
  { database, clock }: NumberPoolDeps,
  workspaceId: string,
  body: Body,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<CountedPool>> {
  const id = newUuid();
  const members = { ids: body.phoneNumberIds ?? [], path: '/body/phoneNumberIds' };
  const now = clock.now();
  const named = idempotencyKey
    ? { operation: 'createNumberPool', key: idempotencyKey, request: body, resourceId: id, now }
    : undefined;
  return database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      await tx.db
        .insertInto('number_pools')
        .values({
          workspace_id: workspaceId,
          id,
          name: body.name,
          description: body.description ?? null,
          max_calls_per_number_per_day: body.maxCallsPerNumberPerDay ?? null,
          max_concurrent_per_number: body.maxConcurrentPerNumber ?? null,
          created_at: now,
          updated_at: now,
        })
        .execute();
      await holdNumbers(tx, members);
      await addMembers(tx, id, members);
      await audit(tx, auditOf('number_pool.created', 'number_pool', toId('pool', id)), now);
      return (await findPool(tx, id))!;
    };
    return makeOnce(tx, named, make, (made) => existing(findPool(tx, made)));
  });
}
