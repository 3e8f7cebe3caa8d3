import { sql, type Updateable } from 'kysely';
import type { Schema } from '../../foundation/database/schema.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { notFound, refuse } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { audit } from '../../platform/journal/record.ts';
import { contradictions } from './contradictions.ts';
import type { NumberPoolDeps } from './deps.ts';
import { addMembers, holdNumbers, removeMembers } from './members.ts';
import type { CountedPool } from './pool.ts';
import { findPool, lockPools } from './store.ts';

type Body = components['schemas']['UpdateNumberPool'];

/**
 * Changes what the body names, all of it or nothing. Throws `not_found` for the pool or a number of the body,
 * `changed_meanwhile`, `number_in_other_pool`, `limit_reached`, and `invalid_request` for lists of numbers that contradict each other.
 */
export async function updatePool(
  { database, clock }: NumberPoolDeps,
  workspaceId: string,
  id: string,
  body: Body,
  auditEntry: AuditEntry,
  ifMatch?: string,
): Promise<CountedPool> {
  refuse(contradictions(body));
  const all = body.phoneNumberIds && { ids: body.phoneNumberIds, path: '/body/phoneNumberIds' };
  const added = all ?? { ids: body.addPhoneNumberIds ?? [], path: '/body/addPhoneNumberIds' };
  const removed = { ids: body.removePhoneNumberIds ?? [], path: '/body/removePhoneNumberIds' };
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const locked = (await lockPools(tx, [id])).get(id);
    if (!locked) throw notFound();
    checkEdition(locked, ifMatch);
    await holdNumbers(tx, added);
    await holdNumbers(tx, removed);
    await removeMembers(tx, id, all ? { butFor: all.ids } : removed);
    await addMembers(tx, id, added);
    await tx.db
      .updateTable('number_pools')
      .set({ ...settings(body), updated_at: now, edition: sql`edition + 1` })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .execute();
    await audit(tx, auditEntry, now);
    return (await findPool(tx, id))!;
  });
}

function settings(body: Body): Updateable<Schema['number_pools']> {
  const { name, description, maxCallsPerNumberPerDay: perDay, maxConcurrentPerNumber: atOnce } = body;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(perDay !== undefined && { max_calls_per_number_per_day: perDay }),
    ...(atOnce !== undefined && { max_concurrent_per_number: atOnce }),
  };
}
