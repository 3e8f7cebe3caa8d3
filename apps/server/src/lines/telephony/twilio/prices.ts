import { type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { NumberSearch, ProviderNumber } from '../number-market.ts';
import type { Ask } from './ask.ts';

type Cost = Pick<ProviderNumber, 'monthlyCost' | 'currency'>;

/** What one account pays for numbers of a country, by type; for an hour. */
export type Prices = (ask: Ask, accountId: string, country: string) => Promise<(type: NumberSearch['type']) => Cost>;

interface CountryPrices {
  price_unit?: string;
  phone_number_prices?: { number_type?: string; current_price?: string }[];
}

const KEPT_MS = 3_600_000;
const MOST_KEPT = 1000;
const names = { local: 'local', mobile: 'mobile', toll_free: 'toll free' };

/** Asks for prices. If they can't be had, numbers have none: nothing else waits for them. */
export function rememberedPrices(): Prices {
  const kept = new Map<string, { until: number; prices: CountryPrices }>();
  return async (ask, accountId, country) => {
    const key = `${accountId} ${country}`;
    const known = kept.get(key);
    if (known && known.until > performance.now()) return (type) => costOf(known.prices, type);
    const path = `/v1/PhoneNumbers/Countries/${country}`;
    const answer = await ask({ method: 'GET', api: 'pricing', path }).catch(() => undefined);
    const prices = (answer ?? {}) as CountryPrices;
    if (answer !== undefined) {
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(key, { until: performance.now() + KEPT_MS, prices });
    }
    return (type) => costOf(prices, type);
  };
}

function costOf({ price_unit, phone_number_prices = [] }: CountryPrices, type: NumberSearch['type']): Cost {
  const price = Number(phone_number_prices.find(({ number_type }) => number_type === names[type])?.current_price);
  if (!(price >= 0) || !/^[A-Z]{3}$/i.test(price_unit ?? '')) return {};
  return { monthlyCost: price, currency: price_unit!.toUpperCase() };
}

/** The country and the type of a number, as prices have it. */
export function kindOf(phoneNumber: string): { country: string; type: NumberSearch['type'] } | undefined {
  const parsed = parsePhoneNumberFromString(phoneNumber);
  if (!parsed?.country) return undefined;
  const type: NumberType = parsed.getType();
  return {
    country: parsed.country,
    type: type === 'TOLL_FREE' ? 'toll_free' : type === 'MOBILE' ? 'mobile' : 'local',
  };
}
