import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js';
import {
  type AccountMarket,
  NumberError,
  type NumberSearch,
  type ProviderAccount,
  type ProviderNumber,
} from '../number-market.ts';
import type { Ask } from './ask.ts';
import { kindOf, type Prices } from './prices.ts';
import { domainOf, ensureTrunk, signallingNetworks } from './trunks.ts';

/** A number of the account, as far as it matters here (`api.v2010.account.incoming_phone_number`). */
interface OwnNumber {
  sid?: string;
  phone_number?: string;
  friendly_name?: string;
  trunk_sid?: string | null;
}

const folders = { local: 'Local', mobile: 'Mobile', toll_free: 'TollFree' };
/** Where numbers can be searched by area code; elsewhere by digits. */
const withAreaCodes = ['US', 'CA'];

/** The name that a number gets there: it finds a purchase again of which nothing was heard. */
const nameOf = (key: string) => `Trunkline ${key}`;

/** Numbers of one account with Twilio. */
export function twilioMarket(ask: Ask, account: ProviderAccount, prices: Prices): AccountMarket {
  const accountId = account.accountId ?? '';
  const root = `/2010-04-01/Accounts/${accountId}`;
  const own = `${root}/IncomingPhoneNumbers`;

  /** The account's numbers that a filter finds. */
  const owned = async (query: { FriendlyName?: string; PhoneNumber?: string }): Promise<OwnNumber[]> => {
    const answer = await ask({ method: 'GET', api: 'api', path: `${own}.json`, query: { ...query, PageSize: '50' } });
    const list = (answer as { incoming_phone_numbers?: OwnNumber[] } | undefined)?.incoming_phone_numbers;
    if (!Array.isArray(list)) throw new NumberError('temporary', 'Twilio answered no list of numbers');
    return list;
  };

  /** A number by its SID, or else by its digits. */
  const read = async ({ phoneNumber, providerNumberId }: ProviderNumber): Promise<OwnNumber | undefined> => {
    if (providerNumberId === undefined)
      return (await owned({ PhoneNumber: phoneNumber })).find(({ phone_number }) => phone_number === phoneNumber);
    return (await ask({ method: 'GET', api: 'api', path: `${own}/${providerNumberId}.json` })) as OwnNumber | undefined;
  };

  const bought = async ({ sid, phone_number }: OwnNumber): Promise<ProviderNumber> => {
    if (!sid || !phone_number) throw new NumberError('unknown', 'Twilio answered no number');
    const kind = kindOf(phone_number);
    const cost = kind ? (await prices(ask, accountId, kind.country))(kind.type) : {};
    return { phoneNumber: phone_number, providerNumberId: sid, ...cost };
  };

  return {
    knowsKeys: false,

    async checkAccount() {
      // A standard key may ask for all but the account itself.
      const isKey = account.keyId !== undefined;
      const question = isKey ? { path: `${own}.json`, query: { PageSize: '1' } } : { path: `${root}.json` };
      const found = await ask({ method: 'GET', api: 'api', ...question });
      if (!found) throw new NumberError('credentials', 'Twilio knows no such account');
      const { status } = found as { status?: string };
      if (!isKey && status !== 'active')
        throw new NumberError('credentials', `Twilio says that the account is ${status}`);
    },

    async searchNumbers(search) {
      const { country, type, limit } = search;
      if (!isSupportedCountry(country)) return [];
      const path = `${root}/AvailablePhoneNumbers/${country}/${folders[type]}.json`;
      const query = { VoiceEnabled: 'true', PageSize: String(limit), ...areaOf(search) };
      const [answer, costOf] = await Promise.all([
        ask({ method: 'GET', api: 'api', path, query }),
        prices(ask, accountId, country),
      ]);
      const found = (answer as { available_phone_numbers?: { phone_number?: string }[] } | undefined)
        ?.available_phone_numbers;
      const numbers = (found ?? []).flatMap(({ phone_number }) => phone_number ?? []);
      const prefix = `+${getCountryCallingCode(country)}`;
      return numbers
        .filter((each) => each.startsWith(`${prefix}${search.areaCode ?? ''}`))
        .filter((each) => each.slice(prefix.length).includes(search.contains ?? ''))
        .slice(0, limit)
        .map((phoneNumber) => ({ phoneNumber, ...costOf(type) }));
    },

    async buyNumber({ phoneNumber, idempotencyKey }) {
      const form = {
        PhoneNumber: phoneNumber,
        FriendlyName: nameOf(idempotencyKey),
        AddressSid: account.addressId,
        BundleSid: account.bundleId,
      };
      return bought((await ask({ method: 'POST', api: 'api', path: `${own}.json`, form })) as OwnNumber);
    },

    async lookupNumberPurchase(key) {
      const name = nameOf(key);
      const found = (await owned({ FriendlyName: name })).find(({ friendly_name }) => friendly_name === name);
      return found && bought(found);
    },

    async findNumber(number) {
      const found = await read(number);
      return found && bought(found);
    },

    trunkAddress: (name) => ({ terminationUrl: domainOf(name), ipAllowlist: signallingNetworks }),

    ensureTrunk: (wanted) => ensureTrunk(ask, root, wanted),

    async bindNumber(number, trunkId) {
      const found = await read(number);
      if (!found?.sid) throw new NumberError('temporary', 'Twilio has no such number in the account');
      if (found.trunk_sid === trunkId) return;
      const path = `/v1/Trunks/${trunkId}/PhoneNumbers`;
      await ask({ method: 'POST', api: 'trunking', path, form: { PhoneNumberSid: found.sid } });
    },

    async releaseNumber(number) {
      const id = number.providerNumberId ?? (await read(number))?.sid;
      if (id) await ask({ method: 'DELETE', api: 'api', path: `${own}/${id}.json` });
    },
  };
}

function areaOf({ country, areaCode, contains }: NumberSearch): { AreaCode?: string; Contains?: string } {
  if (areaCode !== undefined && withAreaCodes.includes(country))
    return { AreaCode: areaCode, ...(contains !== undefined && { Contains: contains }) };
  const digits = contains ?? areaCode;
  return digits === undefined ? {} : { Contains: digits };
}
