import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { PhoneNumberRow } from '../phone-numbers/phone-number.ts';
import { findNumber } from '../phone-numbers/store.ts';
import type { NumberPoolDeps } from './deps.ts';
import { refuseOverfull } from './members.ts';
import { lockPools } from './store.ts';

type Body = components['schemas']['MoveNumberPoolMember'];

/**
 * Moves a number from one pool to another, or out of any. One statement decides, so that of two movers one wins. Answers
 * the number. Throws `not_found` for either pool or the number, `not_a_member`, and `limit_reached` for a full target.
 */
export async function moveMember(
  { database, clock }: NumberPoolDeps,
  workspaceId: string,
  poolId: string,
  body: Body,
  auditEntry: AuditEntry,
): Promise<PhoneNumberRow> {
  const numberId = fromId(body.phoneNumberId);
  const target = body.targetPoolId === null ? null : fromId(body.targetPoolId);
  return database.inWorkspace(workspaceId, async (tx) => {
    const locked = await lockPools(tx, target === null ? [poolId] : [poolId, target]);
    if (!locked.has(poolId)) throw notFound();
    if (target !== null && !locked.has(target)) throw notFound('/body/targetPoolId');
    const number = await findNumber(tx, numberId);
    if (!number) throw notFound('/body/phoneNumberId');
    const { rows } = await sql`
      update number_usage set pool_id = ${target}
      where workspace_id = ${workspaceId} and phone_number_id = ${numberId} and pool_id = ${poolId}
      returning phone_number_id`.execute(tx.db);
    if (rows.length === 0) throw new ServiceError('not_a_member', 'This number is not a member of the pool.');
    await sql`
      update number_pools set edition = edition + 1
      where workspace_id = ${workspaceId} and id = any(${[...locked.keys()]}::uuid[])`.execute(tx.db);
    if (target !== null) await joined(tx, target, clock.now());
    await audit(tx, auditEntry, clock.now());
    return { ...number, pool_id: target };
  });
}

/** A pool that got a number has changed, so that runs which are blocked for want of one are looked at again. */
async function joined(tx: WorkspaceTx, poolId: string, now: Date): Promise<void> {
  await refuseOverfull(tx, poolId);
  await sql`
    update number_pools set updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and id = ${poolId}`.execute(tx.db);
}
