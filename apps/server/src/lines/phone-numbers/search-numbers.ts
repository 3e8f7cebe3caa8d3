import type { components } from '../../foundation/values/generated/contract.ts';
import { type Markets, marketNamed, providerError } from './providers.ts';

type AvailablePhoneNumber = components['schemas']['AvailablePhoneNumber'];

const MOST = 100;

/** The numbers that a provider has for sale. Throws `invalid_request` and `provider_error`. */
export async function searchNumbers(
  markets: Markets,
  query: { provider: AvailablePhoneNumber['provider']; country?: string; areaCode?: string; contains?: string },
): Promise<AvailablePhoneNumber[]> {
  const { provider, country = 'US', areaCode, contains } = query;
  const market = marketNamed(markets, provider, '/query/provider');
  const area = { ...(areaCode !== undefined && { areaCode }), ...(contains !== undefined && { contains }) };
  const found = await market.searchNumbers({ country, ...area, limit: MOST }).catch((error) => {
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
