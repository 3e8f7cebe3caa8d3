import { type SqlBool, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import type { ProviderNumber } from '../telephony/number-market.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { needsTrunk, type PhoneNumberRow } from './phone-number.ts';
import { marketOf } from './providers.ts';
import { lookUpPurchase, type Purchase, resumePurchase } from './purchase.ts';
import { recordNumber } from './record-number.ts';
import { giveBack } from './release-number.ts';
import { uncountPurchase } from './reserve-number.ts';
import { boughtColumns, lockNumber, moveNumber } from './store.ts';

/** How long a provider may fail before a purchase that it has not carried out is given up, in milliseconds. */
const GIVE_UP_MS = 3_600_000;
/** How long a purchase whose answer was lost may take to show at its provider, in milliseconds, before it is given up. */
const UNSEEN_MS = 600_000;
/** When a number that nobody wants is given back once more, if that failed, in milliseconds. */
const GIVE_BACK_AGAIN_MS = 60_000;

/** Makes a reserved number active. A number that was released in the meantime is given back instead. */
export async function settleBought(
  deps: PhoneNumberDeps,
  row: PhoneNumberRow,
  bought: ProviderNumber,
  auditOf?: AuditOf,
): Promise<PhoneNumberRow> {
  const settled = await deps.database.inWorkspace(row.workspace_id, async (tx) => {
    const now = deps.clock.now();
    const current = await lockNumber(tx, row.id);
    if (current?.status !== 'provisioning') return current;
    const active = await moveNumber(tx, current, 'active', {
      ...boughtColumns(bought),
      // What a provider's account holds is looked after from now on.
      ...(needsTrunk(current) ? { due_at: now, connects: true } : { due_at: null }),
      revision: current.revision + 1,
      updated_at: now,
    });
    await recordNumber(tx, active, now, auditOf?.('phone_number.bought', 'phone_number', toId('pn', row.id)));
    return active;
  });
  // Without a row, or with one that was released or given up, nobody wants the number any more.
  if (!settled || settled.status === 'released' || settled.status === 'failed')
    await giveBackUnwanted(deps, row, bought);
  return settled ?? row;
}

/** Marks a purchase that came to nothing after its client was answered. */
async function settleFailed(deps: PhoneNumberDeps, row: PhoneNumberRow): Promise<void> {
  await deps.database.inWorkspace(row.workspace_id, async (tx) => {
    await uncountPurchase(tx, row, async () => {
      const now = deps.clock.now();
      const current = await lockNumber(tx, row.id);
      if (current?.status !== 'provisioning') return false;
      const revision = current.revision + 1;
      const failed = await moveNumber(tx, current, 'failed', { due_at: null, revision, updated_at: now });
      await recordNumber(tx, failed, now);
      return true;
    });
  });
}

/** Writes down what became of a purchase whose client waits no more. An undetermined one stays due. */
export async function settle(deps: PhoneNumberDeps, row: PhoneNumberRow, result: Purchase): Promise<void> {
  if (result.state === 'bought') {
    await settleBought(deps, row, result.number);
    return;
  }
  deps.log.warn(
    { err: result.error, state: result.state, phoneNumberId: row.id },
    'a purchase was not settled by its provider',
  );
  const patience = { refused: 0, not_bought: GIVE_UP_MS, unseen: UNSEEN_MS, undetermined: Number.POSITIVE_INFINITY };
  if (result.state === 'refused' || ageOf(deps, row) > patience[result.state]) await settleFailed(deps, row);
}

/** Takes up a purchase that is due: nothing was heard of it, perhaps because its server died. */
export async function settleDue(deps: PhoneNumberDeps, row: PhoneNumberRow): Promise<void> {
  const market = await marketOf(deps, row);
  if (row.status === 'provisioning') {
    await settle(deps, row, await resumePurchase(market, row.phone_number, row.id));
    return;
  }
  const found = await lookUpPurchase(market, row.id);
  if (found?.state === 'bought') await giveBackUnwanted(deps, row, found.number);
  else if (!found && (market.knowsKeys || ageOf(deps, row) > UNSEEN_MS)) await putDue(deps, row, null);
}

/** Gives back what was bought for a row that was released or given up. It stays due until that is done. */
async function giveBackUnwanted(deps: PhoneNumberDeps, row: PhoneNumberRow, bought: ProviderNumber): Promise<void> {
  await putDue(deps, row, new Date(deps.clock.now().getTime() + GIVE_BACK_AGAIN_MS));
  await giveBack(deps, { ...row, ...boughtColumns(bought) });
  await putDue(deps, row, null);
}

const ageOf = ({ clock }: PhoneNumberDeps, row: PhoneNumberRow) => clock.now().getTime() - row.created_at.getTime();

const putDue = (deps: PhoneNumberDeps, row: PhoneNumberRow, dueAt: Date | null) =>
  deps.database.inWorkspace(row.workspace_id, (tx: WorkspaceTx) =>
    tx.db
      .updateTable('phone_numbers')
      .set({ due_at: dueAt })
      .where('workspace_id', '=', row.workspace_id)
      .where('id', '=', row.id)
      .where(sql<SqlBool>`status in ('released', 'failed')`)
      .execute(),
  );
