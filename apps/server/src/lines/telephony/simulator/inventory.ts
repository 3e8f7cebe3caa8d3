import { type CountryCode, getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js';
import { isE164 } from '../../../foundation/values/e164.ts';
import { NumberError, type NumberSearch, type ProviderNumber } from '../number-market.ts';
import type { Purchase, SimulatorStore } from './store.ts';

/** Buying a number with one of these last four digits always goes the same way. */
const magicNumberEndings = {
  billing: '0402',
  unavailable: '0409',
  temporary: '0502',
  /** It is bought, but the provider's answer is lost. */
  lostAnswer: '0504',
} as const;

const monthlyCost = { monthlyCost: 1.15, currency: 'USD' };
/** The lines 0000 to 0199 are left out: they play callees. */
const FIRST_LINE = 200;
const defaultAreaCodes: Readonly<Record<string, string>> = {
  US: '415',
  CA: '604',
  GB: '20',
  DE: '30',
  FR: '1',
  AU: '2',
};

const offer = (phoneNumber: string): ProviderNumber => ({ phoneNumber, providerNumberId: phoneNumber, ...monthlyCost });

/** The numbers of an area: area code, 555 and four digits, of which some part is `contains`. */
function* linesOf(country: CountryCode, areaCode: string, contains: string): Generator<string> {
  const never: string[] = Object.values(magicNumberEndings);
  for (let line = FIRST_LINE; line < 10_000; line += 1) {
    const ending = String(line).padStart(4, '0');
    const national = `${areaCode}555${ending}`;
    if (!never.includes(ending) && national.includes(contains)) yield `+${getCountryCallingCode(country)}${national}`;
  }
}

/** The numbers that match a search and are not bought, the same ones each time; all of an area. None in an unknown country. */
export async function searchInventory(store: SimulatorStore, search: NumberSearch): Promise<ProviderNumber[]> {
  const { country, limit, contains = '' } = search;
  if (!isSupportedCountry(country) || search.type !== 'local') return [];
  const areaCode = search.areaCode ?? defaultAreaCodes[country] ?? '';
  const matching = linesOf(country, areaCode, contains);
  const free: ProviderNumber[] = [];
  while (free.length < limit) {
    const candidates = takeFrom(matching, limit);
    if (candidates.length === 0) break;
    const bought = await store.findBought(candidates);
    free.push(...candidates.filter((number) => !bought.has(number)).map(offer));
  }
  return free.slice(0, limit);
}

function takeFrom(numbers: Iterator<string>, count: number): string[] {
  const taken: string[] = [];
  while (taken.length < count) {
    const next = numbers.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

/** Buys a number once for each key; asked again with the same key and number it answers the same. */
export async function buyFromInventory(store: SimulatorStore, purchase: Purchase, now: Date): Promise<ProviderNumber> {
  const { phoneNumber, idempotencyKey } = purchase;
  if (!isE164(phoneNumber)) throw new NumberError('invalid', `${phoneNumber} is not E.164`);
  const ending = phoneNumber.slice(-4);
  if (ending === magicNumberEndings.billing) throw new NumberError('billing', 'simulated: no money left');
  if (ending === magicNumberEndings.unavailable) throw new NumberError('unavailable', 'simulated: taken');
  if (ending === magicNumberEndings.temporary) throw new NumberError('temporary', 'simulated: provider failed');
  const kept = await store.buy(purchase, now);
  const own = kept.find((other) => other.idempotencyKey === idempotencyKey);
  if (!own) throw new NumberError('unavailable', `${phoneNumber} is bought already`);
  if (own.phoneNumber !== phoneNumber) throw new NumberError('invalid', 'the key has bought another number');
  if (ending === magicNumberEndings.lostAnswer) throw new NumberError('temporary', 'simulated: the answer was lost');
  return offer(phoneNumber);
}

/** What a key has bought, if anything. */
export async function findInInventory(
  store: SimulatorStore,
  idempotencyKey: string,
): Promise<ProviderNumber | undefined> {
  const purchase = await store.findPurchase(idempotencyKey);
  return purchase && offer(purchase.phoneNumber);
}
