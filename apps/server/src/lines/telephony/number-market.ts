/** A number on offer, or one bought. */
export interface ProviderNumber {
  /** E.164. */
  phoneNumber: string;
  /** The provider's own name of a bought number, where it has one. */
  providerNumberId?: string;
  monthlyCost?: number;
  /** ISO 4217. */
  currency?: string;
}

export interface NumberSearch {
  /** ISO 3166-1 alpha-2. */
  country: string;
  areaCode?: string;
  /** Digits that the national number must contain. */
  contains?: string;
  /** The most numbers to answer with. */
  limit: number;
}

/** `temporary`: the provider failed or its answer was lost; after a purchase, look it up before buying again. */
export type NumberErrorReason = 'billing' | 'unavailable' | 'invalid' | 'temporary';

/** A number could not be searched, bought or released. `message` and `cause` are for the log, not for clients. */
export class NumberError extends Error {
  readonly reason: NumberErrorReason;

  constructor(reason: NumberErrorReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/** Where numbers are bought. Every adapter passes `test/lines/telephony/market-conformance.ts`. */
export interface NumberMarket {
  /** Numbers on offer, none that is taken. Throws `NumberError`. */
  searchNumbers(search: NumberSearch): Promise<ProviderNumber[]>;
  /** Buys a number. Asked twice with one key it buys once. Throws `NumberError`. */
  buyNumber(purchase: { phoneNumber: string; idempotencyKey: string }): Promise<ProviderNumber>;
  /** What was bought with a key, if anything: settles a purchase whose answer was lost. Throws `NumberError`. */
  lookupNumberPurchase(idempotencyKey: string): Promise<ProviderNumber | undefined>;
  /** Gives a number back; one that is not ours is given back already. Throws `NumberError`. */
  releaseNumber(number: ProviderNumber): Promise<void>;
}
