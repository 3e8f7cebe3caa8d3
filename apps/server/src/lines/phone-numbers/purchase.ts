import { NumberError, type NumberMarket, type ProviderNumber } from '../telephony/number-market.ts';

/**
 * What became of a purchase at the provider.
 * - `refused`: it was not carried out and will not be.
 * - `not_bought`: the provider failed, and surely has sold nothing.
 * - `undetermined`: the provider can't be asked now; the number may be bought.
 */
export type Purchase =
  | { state: 'bought'; number: ProviderNumber }
  | { state: 'refused' | 'not_bought' | 'undetermined'; error: unknown };

/** Buys a number under our key. An answer that got lost is looked up. */
export async function purchase(market: NumberMarket, phoneNumber: string, key: string): Promise<Purchase> {
  try {
    return { state: 'bought', number: await market.buyNumber({ phoneNumber, idempotencyKey: key }) };
  } catch (error) {
    if (error instanceof NumberError && error.reason !== 'temporary') return { state: 'refused', error };
    return (await lookUpPurchase(market, key)) ?? { state: 'not_bought', error };
  }
}

/** Goes on with a purchase of which nothing is known: looked up before anything is bought again. */
export async function resumePurchase(market: NumberMarket, phoneNumber: string, key: string): Promise<Purchase> {
  return (await lookUpPurchase(market, key)) ?? (await purchase(market, phoneNumber, key));
}

/** What the provider knows of a purchase; undefined where it knows of none. */
export async function lookUpPurchase(market: NumberMarket, key: string): Promise<Purchase | undefined> {
  try {
    const number = await market.lookupNumberPurchase(key);
    return number && { state: 'bought', number };
  } catch (error) {
    return { state: 'undetermined', error };
  }
}
