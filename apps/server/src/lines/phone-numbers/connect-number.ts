import type { AccountMarket, ProviderNumber } from '../telephony/number-market.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { managedTrunk } from './managed-trunk.ts';
import type { PhoneNumberRow } from './phone-number.ts';
import { recordNumber } from './record-number.ts';
import { changeNumber, lockNumber } from './store.ts';

/** A number as its provider knows it. */
export const asSold = ({ phone_number, provider_number_id }: PhoneNumberRow): ProviderNumber => ({
  phoneNumber: phone_number,
  ...(provider_number_id !== null && { providerNumberId: provider_number_id }),
});

/**
 * Puts a number that was bought on the trunk of its workspace at the provider, at both ends. Done again it changes nothing.
 * Throws what the provider throws.
 * @returns whether all is done that can be; else it is to be tried again soon
 */
export async function connectNumber(
  deps: PhoneNumberDeps,
  row: PhoneNumberRow,
  market: AccountMarket,
): Promise<boolean> {
  // Without an address of its own the server can be called by nobody: numbers get a trunk by hand.
  if (deps.originUri === undefined) return true;
  const trunk = await managedTrunk(deps, row, market, deps.originUri);
  if (!trunk) return false;
  await market.bindNumber(asSold(row), trunk.managedId);
  await deps.database.inWorkspace(row.workspace_id, async (tx) => {
    const current = await lockNumber(tx, row.id);
    // Somebody has chosen another one meanwhile, or released it.
    if (!current?.connects || current.status === 'released') return;
    const now = deps.clock.now();
    const changes = { connects: false, trunk_id: trunk.id, revision: current.revision + 1, updated_at: now };
    await recordNumber(tx, await changeNumber(tx, row.id, changes), now);
  });
  return true;
}
