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
  type: 'local' | 'mobile' | 'toll_free';
  areaCode?: string;
  /** Digits that the national number must contain. */
  contains?: string;
  /** The most numbers to answer with. */
  limit: number;
}

/**
 * - `billing`, `unavailable`, `invalid`: the provider refuses; nothing was done.
 * - `requirements`: it asks for an address or documents, which `missing` names for clients.
 * - `credentials`: it doesn't take the account.
 * - `temporary`: it failed; what was asked surely wasn't done, unless a look says otherwise.
 * - `unknown`: its answer was lost, and what was asked may be done yet: only looks may settle it.
 */
export type NumberErrorReason =
  | 'billing'
  | 'unavailable'
  | 'invalid'
  | 'requirements'
  | 'credentials'
  | 'temporary'
  | 'unknown';

/** A number could not be searched, bought or released. `message` and `cause` are for the log, not for clients. */
export class NumberError extends Error {
  readonly reason: NumberErrorReason;
  /** What is missing, for clients, such as `an address`. With `requirements`. */
  readonly missing: string | undefined;

  constructor(reason: NumberErrorReason, message: string, options?: { cause?: unknown; missing?: string }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.missing = options?.missing;
  }
}

/** Where numbers are bought. Every adapter passes `test/lines/telephony/market-conformance.ts`. */
export interface NumberMarket {
  /** Whether the provider itself knows a key again: then a purchase of which nothing is known can be sent once more. */
  readonly knowsKeys: boolean;
  /** Numbers on offer, none that is taken. Throws `NumberError`. */
  searchNumbers(search: NumberSearch): Promise<ProviderNumber[]>;
  /** Buys a number. If the provider knows keys, asked twice with one key it buys once. Throws `NumberError`. */
  buyNumber(purchase: { phoneNumber: string; idempotencyKey: string }): Promise<ProviderNumber>;
  /** What was bought with a key, if anything: settles a purchase whose answer was lost. Throws `NumberError`. */
  lookupNumberPurchase(idempotencyKey: string): Promise<ProviderNumber | undefined>;
  /** Gives a number back; one that is not ours is given back already. Throws `NumberError`. */
  releaseNumber(number: ProviderNumber): Promise<void>;
}

/** A workspace's account with a provider. */
export interface ProviderAccount {
  /** UUID. */
  workspaceId: string;
  accountId?: string;
  keyId?: string;
  secret: string;
  addressId?: string;
  bundleId?: string;
}

/** How a provider sends calls here, and takes ours. */
export interface WantedTrunk {
  /** Its name at the provider, by which it is found again. */
  name: string;
  /** Where calls are to be sent. Others that the trunk has stay. */
  originUris: readonly string[];
  username: string;
  password: string;
}

/** The market as one account sees it. */
export interface AccountMarket extends NumberMarket {
  /** Asks whether the provider takes the account, and changes nothing. Throws `NumberError`. */
  checkAccount(): Promise<void>;
  /** A number as the account has it; nothing if it has it no more. Throws `NumberError`. */
  findNumber(number: ProviderNumber): Promise<ProviderNumber | undefined>;
  /** How a trunk of this name is reached, and from which addresses and networks its calls come. */
  trunkAddress(name: string): { terminationUrl: string; ipAllowlist: string[] };
  /** Makes what is missing of a trunk, and leaves what is there. Answers the provider's own name of it. Throws `NumberError`. */
  ensureTrunk(wanted: WantedTrunk): Promise<string>;
  /** Puts a number on a trunk, if it isn't there. Throws `NumberError`. @param trunkId the provider's own name of the trunk */
  bindNumber(number: ProviderNumber, trunkId: string): Promise<void>;
}

/** A provider with which each workspace has an account of its own. */
export interface AccountProvider {
  /** What is wrong with the form of an account, by its field. */
  faults(account: Omit<ProviderAccount, 'workspaceId'>): { field: keyof ProviderAccount; message: string }[];
  open(account: ProviderAccount): AccountMarket;
}
