import { type SqlBool, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { freeIdempotencyKey, takeIdempotencyKey } from '../../foundation/database/idempotency-keys.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { countryOfNumber } from './numbering-plan.ts';
import type { PhoneNumberRow, Provider } from './phone-number.ts';
import { forgetFailed, readNumber, roomForNumbers, TOO_MANY_NUMBERS } from './store.ts';

const OPERATION = 'buyPhoneNumber';

export interface Reservation {
  id: string;
  phoneNumber: string;
  provider: Provider;
  idempotencyKey: string | undefined;
  now: Date;
  /** When another server looks after the purchase if nothing is heard of it. */
  dueAt: Date;
}

/**
 * Reserves a number as `provisioning`, before its provider is asked. Answers the row, or the UUID of the number that the
 * idempotency key has reserved before. Throws `idempotency_key_reused`, `payment_required`, `number_unavailable`.
 */
export async function reserveNumber(
  tx: WorkspaceTx,
  reservation: Reservation,
  onReleased: PhoneNumberDeps['onReleased'],
): Promise<{ reserved: PhoneNumberRow } | { earlier: string }> {
  const { id, phoneNumber, provider, now } = reservation;
  if (reservation.idempotencyKey !== undefined) {
    const key = reservation.idempotencyKey;
    const request = { phoneNumber, provider };
    const earlier = await takeIdempotencyKey(tx, { operation: OPERATION, key, request, resourceId: id, now });
    if (earlier !== id) return { earlier };
  }
  if ((await roomForNumbers(tx)) === 0) throw new ServiceError('limit_reached', TOO_MANY_NUMBERS);
  await countPurchase(tx, now);
  await forgetFailed(tx, [phoneNumber], now, onReleased);
  const reserved = await tx.db
    .insertInto('phone_numbers')
    .values({
      workspace_id: tx.workspaceId,
      id,
      phone_number: phoneNumber,
      country: countryOfNumber(Number(phoneNumber.slice(1))) ?? null,
      status: 'provisioning',
      provider,
      due_at: reservation.dueAt,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!reserved)
    throw new ServiceError('number_unavailable', `The number ${phoneNumber} is in use on this server already.`);
  return { reserved: (await readNumber(tx, id))! };
}

/** Counts the purchase, and so locks today's row; under that lock the limit is read. */
async function countPurchase(tx: WorkspaceTx, now: Date): Promise<void> {
  const { numbers_bought: bought } = await tx.db
    .insertInto('workspace_usage')
    .values({ workspace_id: tx.workspaceId, day: utcDay(now), numbers_bought: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'day'])
        .doUpdateSet((row) => ({ numbers_bought: row('workspace_usage.numbers_bought', '+', 1) })),
    )
    .returning('numbers_bought')
    .executeTakeFirstOrThrow();
  const { max_numbers_per_day: limit } = await tx.db
    .selectFrom('workspaces')
    .select('max_numbers_per_day')
    .where('id', '=', tx.workspaceId)
    .executeTakeFirstOrThrow();
  if (limit === null || bought <= limit) return;
  const message =
    limit === 0
      ? 'This workspace may not buy numbers.'
      : `The workspace has bought ${limit === 1 ? '1 number' : `${limit} numbers`} today. That is its limit.`;
  throw new ServiceError('payment_required', message);
}

/**
 * Undoes a reservation whose purchase was refused while its client waits: the number was never there, and the
 * idempotency key is free again. Changes nothing if another server has settled it.
 */
export async function undoReservation(tx: WorkspaceTx, row: PhoneNumberRow): Promise<void> {
  await uncountPurchase(tx, row, async () => {
    const undone = await tx.db
      .deleteFrom('phone_numbers')
      .where('workspace_id', '=', tx.workspaceId)
      .where('id', '=', row.id)
      .where(sql<SqlBool>`status = 'provisioning'`)
      .executeTakeFirst();
    if (undone.numDeletedRows === 0n) return false;
    await freeIdempotencyKey(tx, OPERATION, row.id);
    return true;
  });
}

/**
 * Takes back that a purchase was counted, on the day that it was, if `undo` did something. The day's row is locked
 * before the number's, as in a purchase.
 */
export async function uncountPurchase(
  tx: WorkspaceTx,
  row: PhoneNumberRow,
  undo: () => Promise<boolean>,
): Promise<void> {
  const day = utcDay(row.created_at);
  const usage = tx.db.selectFrom('workspace_usage').select('day').where('workspace_id', '=', tx.workspaceId);
  await usage.where('day', '=', day).forUpdate().execute();
  if (!(await undo())) return;
  await tx.db
    .updateTable('workspace_usage')
    .set((each) => ({ numbers_bought: each('numbers_bought', '-', 1) }))
    .where('workspace_id', '=', tx.workspaceId)
    .where('day', '=', day)
    .execute();
}
