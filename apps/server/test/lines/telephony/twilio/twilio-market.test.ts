import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAddressGuard } from '../../../../src/foundation/outbound-http/address-guard.ts';
import { createOutboundHttp } from '../../../../src/foundation/outbound-http/guarded-request.ts';
import { newUuid } from '../../../../src/foundation/values/ids.ts';
import type { ProviderAccount } from '../../../../src/lines/telephony/number-market.ts';
import { refusal } from '../../../../src/lines/telephony/twilio/refusal.ts';
import { twilio } from '../../../../src/lines/telephony/twilio/twilio.ts';
import { marketConformance } from '../market-conformance.ts';
import { type Fate, TwilioDouble, testAccount } from './double.ts';

const outbound = createOutboundHttp(
  createAddressGuard({ networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] }),
);
const double = new TwilioDouble();
beforeAll(() => double.start());
beforeEach(() => {
  double.fate = () => undefined;
  double.asked.length = 0;
});
afterAll(async () => {
  await double.stop();
  await outbound.close();
  expect(double.faults).toEqual([]);
});

const open = (account: Partial<ProviderAccount> = {}) =>
  twilio(outbound.send, double.urls).open({ workspaceId: newUuid(), ...testAccount, ...account });
const PURCHASE = 'post /2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers.json';
/** Lets the next purchase end so. */
const next = (fate: Fate) => {
  double.fate = (operation) => {
    if (operation !== PURCHASE) return undefined;
    double.fate = () => undefined;
    return fate;
  };
};
const buy = (phoneNumber: string, account?: Partial<ProviderAccount>, key = newUuid()) =>
  open(account).buyNumber({ phoneNumber, idempotencyKey: key });

marketConformance('Twilio', async () => {
  const losesAnswer = `+1415777${String(1000 + double.sold.length)}`;
  double.fate = (operation, { PhoneNumber }) =>
    operation === PURCHASE && PhoneNumber === losesAnswer ? 'lose' : undefined;
  return { market: open(), country: 'US', losesAnswer };
});

test('numbers are found by area, digits and type, with what they cost', async () => {
  const found = await open().searchNumbers({ country: 'US', type: 'local', areaCode: '212', contains: '11', limit: 3 });
  expect(found).toHaveLength(3);
  for (const number of found) expect(number).toMatchObject({ monthlyCost: 1.15, currency: 'USD' });
  for (const { phoneNumber } of found) expect(phoneNumber).toMatch(/^\+1212\d*11\d*$/);
  const free = await open().searchNumbers({ country: 'US', type: 'toll_free', limit: 1 });
  expect(free).toEqual([{ phoneNumber: '+18335551000', monthlyCost: 2.15, currency: 'USD' }]);
  expect(await open().searchNumbers({ country: 'US', type: 'mobile', limit: 1 })).toEqual([]);
  expect(await open().searchNumbers({ country: 'DE', type: 'local', limit: 1 })).toEqual([]);
  expect(await open().searchNumbers({ country: 'XX', type: 'local', limit: 1 })).toEqual([]);
});

test('a number that is bought bears our key, its ID there and what it costs', async () => {
  const key = newUuid();
  const bought = await buy('+14158880001', {}, key);
  const [sid, number] = [...double.numbers].at(-1)!;
  expect(number.friendly_name).toBe(`Trunkline ${key}`);
  expect(bought).toEqual({ phoneNumber: '+14158880001', providerNumberId: sid, monthlyCost: 1.15, currency: 'USD' });
});

test.each([
  ['+14158880402', { reason: 'billing' }],
  ['+14158880631', { reason: 'requirements', missing: 'an address' }],
  ['+14158880649', { reason: 'requirements', missing: 'approved regulatory documents (a bundle)' }],
  ['+0', { reason: 'invalid' }],
])('what Twilio refuses of %s is told apart', async (phoneNumber, refusal) => {
  await expect(buy(phoneNumber)).rejects.toMatchObject(refusal);
  expect(double.sold).not.toContain(phoneNumber);
});

test('an address and a bundle of the account go with a purchase', async () => {
  await buy('+14158880631', { addressId: `AD${'a'.repeat(32)}` });
  await buy('+14158880649', { bundleId: `BU${'b'.repeat(32)}` });
  expect(double.sold.slice(-2)).toEqual(['+14158880631', '+14158880649']);
});

test('what is surely not done is told apart from what may be', async () => {
  for (const [fate, reason] of [
    ['drop', 'unknown'],
    ['lose', 'unknown'],
    ['broken', 'unknown'],
    ['brokenAfter', 'unknown'],
  ] as const) {
    next(fate);
    await expect(buy(`+1415888${1000 + double.asked.length}`)).rejects.toMatchObject({ reason });
  }
  const nobody = twilio(outbound.send, { api: 'http://127.0.0.1:9', pricing: double.url, trunking: double.url });
  const account = { workspaceId: newUuid(), ...testAccount };
  const purchase = { phoneNumber: '+14158880009', idempotencyKey: newUuid() };
  await expect(nobody.open(account).buyNumber(purchase)).rejects.toMatchObject({ reason: 'temporary' });
});

test('a purchase that Twilio puts off is asked for again, and is one', async () => {
  next('busy');
  await buy('+14158880020');
  expect(double.sold.filter((each) => each === '+14158880020')).toHaveLength(1);
  expect(double.asked.filter((each) => each === PURCHASE)).toHaveLength(2);
  double.fate = () => 'busy';
  await expect(buy('+14158880021')).rejects.toMatchObject({ reason: 'temporary' });
});

test('an account that Twilio does not take is told, whatever was asked', async () => {
  const wrong = open({ secret: 'another' });
  const key = newUuid();
  for (const asked of [
    wrong.checkAccount(),
    wrong.searchNumbers({ country: 'US', type: 'local', limit: 1 }),
    wrong.buyNumber({ phoneNumber: '+14158880030', idempotencyKey: key }),
    wrong.lookupNumberPurchase(key),
    wrong.releaseNumber({ phoneNumber: '+14158880030' }),
    open({ accountId: `AC${'f'.repeat(32)}` }).checkAccount(),
  ])
    await expect(asked).rejects.toMatchObject({ reason: 'credentials' });
  await open().checkAccount();
});

test('a key is taken for its account, although it may not ask for the account itself', async () => {
  const keyId = `SK${'1'.repeat(32)}`;
  await expect(open({ keyId }).checkAccount()).rejects.toMatchObject({ reason: 'credentials' });
  double.keys.add(keyId);
  await open({ keyId }).checkAccount();
  await expect(open({ keyId, secret: 'another' }).checkAccount()).rejects.toMatchObject({ reason: 'credentials' });
});

test('what an account may not do says nothing against its secret', () => {
  expect(refusal(401, undefined).reason).toBe('credentials');
  expect(refusal(403, { code: 20003 }).reason).toBe('credentials');
  expect(refusal(403, { code: 20403 }).reason).toBe('temporary');
});
