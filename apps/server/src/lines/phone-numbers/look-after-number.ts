import { isUniqueViolation } from '../../foundation/database/errors.ts';
import { isOfAccount } from '../providers/open-market.ts';
import { asSold, connectNumber } from './connect-number.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { isOnManaged } from './managed-trunk.ts';
import type { PhoneNumberRow } from './phone-number.ts';
import { marketOf } from './providers.ts';
import { recordNumber } from './record-number.ts';
import { lockNumber, moveNumber } from './store.ts';

/** How often a provider is asked whether its account still has a number, in milliseconds. */
const LOOK_MS = 3_000_000;
/** The same if it could not be asked, and if the number could not be put on its trunk yet. */
const AGAIN_MS = 600_000;
const SOON_MS = 60_000;

/**
 * Looks whether the account with a provider still has a number, and puts a number on the trunk that was made for it, if it was just bought or somebody has taken it off there. One that
 * the account has no more is `suspended`, and `active` again if it has it again. Throws what the provider throws.
 */
export async function lookAfterNumber(deps: PhoneNumberDeps, row: PhoneNumberRow): Promise<void> {
  await due(deps, row, AGAIN_MS);
  const market = await marketOf(deps, row);
  if (!isOfAccount(market)) return due(deps, row, undefined);
  const found = await market.findNumber(asSold(row));
  await note(deps, row, found !== undefined);
  if (!found) return due(deps, row, LOOK_MS);
  const isOurs = row.connects || (await deps.database.inWorkspace(row.workspace_id, (tx) => isOnManaged(tx, row)));
  const isConnected = !isOurs || (await connectNumber(deps, row, market));
  await due(deps, row, isConnected ? LOOK_MS : SOON_MS);
}

/** When it is looked at next; never if `ms` is undefined, nor if it is being released. */
async function due({ database, clock }: PhoneNumberDeps, row: PhoneNumberRow, ms: number | undefined): Promise<void> {
  await database.inWorkspace(row.workspace_id, ({ db }) =>
    db
      .updateTable('phone_numbers')
      .set({ due_at: ms === undefined ? null : new Date(clock.now().getTime() + ms) })
      .where('workspace_id', '=', row.workspace_id)
      .where('id', '=', row.id)
      .where('releasing_from', 'is', null)
      .where('status', 'in', ['active', 'suspended'])
      .execute(),
  );
}

async function note({ database, clock, log }: PhoneNumberDeps, { workspace_id, id }: PhoneNumberRow, isThere: boolean) {
  const [status, other] = isThere ? (['active', 'suspended'] as const) : (['suspended', 'active'] as const);
  await database
    .inWorkspace(workspace_id, async (tx) => {
      const current = await lockNumber(tx, id);
      if (current?.status !== other || current.releasing_from) return;
      const now = clock.now();
      const moved = await moveNumber(tx, current, status, { revision: current.revision + 1, updated_at: now });
      await recordNumber(tx, moved, now);
      log.warn({ phoneNumberId: id, status }, 'a provider says otherwise of a number than before');
    })
    .catch((error) => {
      // Another workspace has it meanwhile.
      if (!isUniqueViolation(error, 'phone_numbers_owner')) throw error;
    });
}
