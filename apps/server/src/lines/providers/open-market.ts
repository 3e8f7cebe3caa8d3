import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type AccountMarket, NumberError, type NumberMarket } from '../telephony/number-market.ts';
import { type AccountRow, openedAccount } from './account.ts';
import type { ProviderDeps } from './deps.ts';
import { findAccount } from './store.ts';

/** Where the workspace can buy numbers of a provider; undefined where it can't. The account is held as it is until the transaction ends. */
export async function openMarket(
  deps: ProviderDeps,
  tx: WorkspaceTx,
  provider: string,
): Promise<NumberMarket | AccountMarket | undefined> {
  const market = deps.markets.get(provider);
  if (market) return market;
  const opened = deps.accountProviders.get(provider);
  const row = opened && (await findAccount(tx, provider, 'share'));
  const account = row && openedAccount(row, deps.secrets);
  if (row && !account)
    deps.log.error({ provider }, 'the secret of an account can not be decrypted; was ENCRYPTION_KEY changed?');
  return account && notingRejection(deps, row!, opened!.open(account));
}

/** Whether a market is an account's. */
export const isOfAccount = (market: NumberMarket | AccountMarket): market is AccountMarket => 'findNumber' in market;

/** Notes it of the account if the provider takes it no more, unless another was saved since. */
function notingRejection(
  { database, clock, log }: ProviderDeps,
  { workspace_id: workspaceId, id, edition }: AccountRow,
  market: AccountMarket,
): AccountMarket {
  const noted = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof NumberError && error.reason === 'credentials')
        await database
          .inWorkspace(workspaceId, ({ db }) =>
            db
              .updateTable('provider_accounts')
              .set({ rejected_at: clock.now(), checked_at: clock.now() })
              .where('workspace_id', '=', workspaceId)
              .where('id', '=', id)
              .where('edition', '=', edition)
              .execute(),
          )
          .catch((err) => log.warn({ err }, 'it could not be noted that a provider rejects an account'));
      throw error;
    }
  };
  return {
    knowsKeys: market.knowsKeys,
    checkAccount: () => noted(market.checkAccount()),
    searchNumbers: (search) => noted(market.searchNumbers(search)),
    buyNumber: (purchase) => noted(market.buyNumber(purchase)),
    lookupNumberPurchase: (key) => noted(market.lookupNumberPurchase(key)),
    releaseNumber: (number) => noted(market.releaseNumber(number)),
    findNumber: (number) => noted(market.findNumber(number)),
    trunkAddress: market.trunkAddress,
    ensureTrunk: (wanted) => noted(market.ensureTrunk(wanted)),
    bindNumber: (number, trunkId) => noted(market.bindNumber(number, trunkId)),
  };
}
