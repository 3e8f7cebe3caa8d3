import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { ProviderDeps } from '../providers/deps.ts';
import { openMarket } from '../providers/open-market.ts';
import { listAccounts } from '../providers/store.ts';
import { type AccountMarket, NumberError, type NumberMarket } from '../telephony/number-market.ts';
import type { PhoneNumberRow } from './phone-number.ts';

/** Where the workspace buys numbers of this provider. Throws `invalid_request`, which names those that it can buy from. */
export async function marketNamed(
  deps: ProviderDeps,
  tx: WorkspaceTx,
  name: string,
  path: string,
): Promise<NumberMarket> {
  const market = await openMarket(deps, tx, name);
  if (market) return market;
  const withAccount = (await listAccounts(tx)).map(({ provider }): string => provider);
  const names = [...deps.markets.keys(), ...withAccount.filter((each) => deps.accountProviders.has(each))];
  const configured = `Configured providers: ${names.join(', ') || 'none'}.`;
  const message = deps.accountProviders.has(name)
    ? `The workspace has no account with ${name} that can be used. Save one with PUT /v1/telephony/providers/${name}. ${configured}`
    : `The provider ${name} is not configured. ${configured}`;
  throw new ServiceError('invalid_request', message, { details: [{ path, message }] });
}

/** Where a number was bought. Throws `provider_error` where its provider can't be asked any more. */
export async function marketOf(deps: ProviderDeps, row: PhoneNumberRow): Promise<NumberMarket | AccountMarket> {
  const market = await deps.database.inWorkspace(row.workspace_id, (tx) => openMarket(deps, tx, row.provider));
  if (!market) throw new ServiceError('provider_error', `The provider ${row.provider} is not configured any more.`);
  return market;
}

/** What a client is told of a provider that failed; what the provider said goes into the log only. */
export function providerError(cause: unknown, provider: string): ServiceError {
  const message =
    cause instanceof NumberError && cause.reason === 'credentials'
      ? `The provider ${provider} does not take the workspace's account, and nothing was changed. Save it anew with PUT /v1/telephony/providers/${provider}.`
      : `The provider ${provider} failed, and nothing was changed. Try again later.`;
  return new ServiceError('provider_error', message, { cause });
}

/** What a client is told of a purchase that came to nothing. */
export function purchaseFailure(cause: unknown, provider: string, phoneNumber: string): ServiceError {
  if (!(cause instanceof NumberError)) return providerError(cause, provider);
  switch (cause.reason) {
    case 'billing': {
      const message = 'The provider account cannot pay for this number. Check its balance and billing.';
      return new ServiceError('payment_required', message, { cause });
    }
    case 'unavailable':
      return new ServiceError('number_unavailable', `The number ${phoneNumber} is not for sale at ${provider}.`, {
        cause,
      });
    case 'invalid':
      return new ServiceError(
        'invalid_request',
        `The provider ${provider} does not take ${phoneNumber} for a number.`,
        {
          cause,
        },
      );
    case 'requirements': {
      const missing = cause.missing ?? 'documents';
      const message = `${provider} sells ${phoneNumber} only with ${missing}. Give it to the provider, and save its ID with the account.`;
      const details = [{ path: '/body/phoneNumber', message: `needs ${missing}` }];
      return new ServiceError('requirements_missing', message, { cause, details });
    }
    default:
      return providerError(cause, provider);
  }
}
