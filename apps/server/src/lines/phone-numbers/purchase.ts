import { NumberError, type NumberMarket, type ProviderNumber } from '../telephony/number-market.ts';

/**
 * What became of a purchase at the provider.
 * - `refused`: it was not carried out and will not be.
 * - `not_bought`: the provider failed, and surely has sold nothing.
 * - `unseen`: it may have been sold, and the provider shows nothing of it yet. It is never bought again, only looked for.
 * - `undetermined`: the provider can't be asked now; the number may be bought.
 */
export type Purchase =
  | { state: 'bought'; number: ProviderNumber }
  | { state: 'refused' | 'not_bought' | 'unseen' | 'undetermined'; error: unknown };

/** Buys a number under our key. An answer that got lost is looked up. */
export async function purchase(market: NumberMarket, phoneNumber: string, key: string): Promise<Purchase> {
  try {
    return { state: 'bought', number: await market.buyNumber({ phoneNumber, idempotencyKey: key }) };
  } catch (error) {
    const reason = error instanceof NumberError ? error.reason : isLost(market);
    if (reason !== 'temporary' && reason !== 'unknown') return { state: 'refused', error };
    return (await lookUpPurchase(market, key)) ?? { state: reason === 'unknown' ? 'unseen' : 'not_bought', error };
  }
}

/** What an adapter throws that is no `NumberError` tells nothing of what was done. */
const isLost = ({ knowsKeys }: NumberMarket) => (knowsKeys ? 'temporary' : 'unknown');

/** Goes on with a purchase of which nothing is known: looked up, and bought again only if the provider knows its key. */
export async function resumePurchase(market: NumberMarket, phoneNumber: string, key: string): Promise<Purchase> {
  const found = await lookUpPurchase(market, key);
  if (found) return found;
  if (market.knowsKeys) return purchase(market, phoneNumber, key);
  return { state: 'unseen', error: new Error('the provider shows no such purchase') };
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
