import { setTimeout as sleep } from 'node:timers/promises';
import { inProgress } from '../../foundation/database/idempotency-keys.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { NumberMarket } from '../telephony/number-market.ts';
import type { PhoneNumberDeps } from './deps.ts';
import type { PhoneNumberRow, Provider } from './phone-number.ts';
import { marketNamed, purchaseFailure } from './providers.ts';
import { type Purchase, purchase, resumePurchase } from './purchase.ts';
import { reserveNumber, undoReservation } from './reserve-number.ts';
import { settle, settleBought } from './settle-purchase.ts';
import { readNumber } from './store.ts';

const PURCHASE_WAIT_MS = 10_000;
/** How long after the answer another server takes the purchase up, if this one has died over it. */
const TAKE_UP_MS = 5_000;
const RETRY_MS = 1_000;
/** How long a request waits for an equal one that came before it. */
const EARLIER_WAIT_MS = 5_000;
const EARLIER_POLL_MS = 100;

export interface NumberOrder {
  workspaceId: string;
  /** E.164. */
  phoneNumber: string;
  provider: Provider;
  idempotencyKey: string | undefined;
  auditOf: AuditOf;
}

/**
 * Buys a number. It is reserved and committed before the provider is asked, and comes back `provisioning` if the
 * provider has not settled within 10 s. Throws `invalid_request`, `payment_required`, `number_unavailable`,
 * `idempotency_key_reused`, `idempotency_in_progress` and `provider_error`, and nothing is bought then.
 * @returns the number, and whether an earlier request with this idempotency key has bought it
 */
export async function buyNumber(
  deps: PhoneNumberDeps,
  order: NumberOrder,
): Promise<{ row: PhoneNumberRow; replayed: boolean }> {
  const waitsUntil = performance.now() + EARLIER_WAIT_MS;
  for (;;) {
    const now = deps.clock.now();
    const dueAt = new Date(now.getTime() + waitOf(deps) + TAKE_UP_MS);
    const { phoneNumber, provider, idempotencyKey } = order;
    const reservation = { id: newUuid(), phoneNumber, provider, idempotencyKey, now, dueAt };
    const { market, ...result } = await deps.database.inWorkspace(order.workspaceId, async (tx) => ({
      market: await marketNamed(deps, tx, provider, '/body/provider'),
      ...(await reserveNumber(tx, reservation, deps.onReleased)),
    }));
    if ('reserved' in result) return { row: await carryOut(deps, order, market, result.reserved), replayed: false };
    const earlier = await outcomeOf(deps, order.workspaceId, result.earlier, waitsUntil);
    // An earlier request that was refused has freed its key: this one is the first now.
    if (earlier) return { row: earlier, replayed: true };
  }
}

const waitOf = (deps: PhoneNumberDeps) => deps.purchaseWaitMs ?? PURCHASE_WAIT_MS;

/** What became of an earlier request: its number once it was answered, nothing if it was refused. */
async function outcomeOf(
  deps: PhoneNumberDeps,
  workspaceId: string,
  id: string,
  waitsUntil: number,
): Promise<PhoneNumberRow | undefined> {
  for (;;) {
    const row = await deps.database.inWorkspace(workspaceId, (tx) => readNumber(tx, id));
    const answered = row && deps.clock.now().getTime() - row.created_at.getTime() > waitOf(deps);
    if (row?.status !== 'provisioning' || answered) return row;
    if (performance.now() > waitsUntil) throw inProgress();
    await sleep(EARLIER_POLL_MS);
  }
}

async function carryOut(
  deps: PhoneNumberDeps,
  order: NumberOrder,
  market: NumberMarket,
  row: PhoneNumberRow,
): Promise<PhoneNumberRow> {
  const settling = settleWithin(market, row, performance.now() + waitOf(deps));
  const late = new AbortController();
  const result = await Promise.race([settling, sleep(waitOf(deps), undefined, { signal: late.signal })]);
  late.abort();
  if (!result || isOpen(result)) {
    void settling
      .then((later) => settle(deps, row, later))
      .catch((error) => deps.log.error({ err: error, phoneNumberId: row.id }, 'a late purchase was not settled'));
    const entry = order.auditOf('phone_number.bought', 'phone_number', toId('pn', row.id));
    await deps.database.inWorkspace(row.workspace_id, (tx) => audit(tx, entry, deps.clock.now()));
    return row;
  }
  if (result.state === 'bought') return settleBought(deps, row, result.number, order.auditOf);
  await deps.database.inWorkspace(row.workspace_id, (tx) => undoReservation(tx, row));
  throw purchaseFailure(result.error, row.provider, row.phone_number);
}

/** Asks the provider until it can say what became of the purchase, or time is up. */
async function settleWithin(market: NumberMarket, row: PhoneNumberRow, until: number): Promise<Purchase> {
  let result = await purchase(market, row.phone_number, row.id);
  while (isOpen(result) && performance.now() + RETRY_MS < until) {
    await sleep(RETRY_MS);
    result = await resumePurchase(market, row.phone_number, row.id);
  }
  return result;
}

/** Whether a number may be bought of which the provider can't be told yet. */
const isOpen = ({ state }: Purchase) => state === 'undetermined' || state === 'unseen';
