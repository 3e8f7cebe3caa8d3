import type { components } from '../../foundation/values/generated/contract.ts';
import type { ProviderDeps } from '../providers/deps.ts';
import type { NumberSearch } from '../telephony/number-market.ts';
import { marketNamed, providerError } from './providers.ts';

type AvailablePhoneNumber = components['schemas']['AvailablePhoneNumber'];
type Query = { provider: AvailablePhoneNumber['provider'] } & Partial<Omit<NumberSearch, 'limit'>>;

const MOST = 100;

/** The numbers that a provider has for sale. Throws `invalid_request` and `provider_error`. */
export async function searchNumbers(
  deps: ProviderDeps,
  workspaceId: string,
  query: Query,
): Promise<AvailablePhoneNumber[]> {
  const { provider, country = 'US', type = 'local', areaCode, contains } = query;
  const market = await deps.database.inWorkspace(workspaceId, (tx) =>
    marketNamed(deps, tx, provider, '/query/provider'),
  );
  const area = { ...(areaCode !== undefined && { areaCode }), ...(contains !== undefined && { contains }) };
  const found = await market.searchNumbers({ country, type, ...area, limit: MOST }).catch((error) => {
    throw providerError(error, provider);
  });
  return found.slice(0, MOST).map(({ phoneNumber, monthlyCost, currency }) => ({
    phoneNumber,
    country,
    provider,
    ...(monthlyCost !== undefined && { monthlyCost }),
    ...(currency !== undefined && { currency }),
  }));
}
