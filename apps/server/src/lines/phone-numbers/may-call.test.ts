import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { mayCall, refusalOf } from './may-call.ts';

const anywhere = { countries: [null, [], undefined], premiumRate: false };

describe('premium-rate numbers', () => {
  test.each([19002341234, 449098790000, 499001123456, 33891123456])(
    '+%i is closed unless they are allowed',
    (digits) => {
      expect(parsePhoneNumberFromString(`+${digits}`)?.getType()).toBe('PREMIUM_RATE');
      expect(mayCall(anywhere, digits)).toBe(false);
      expect(mayCall({ ...anywhere, premiumRate: true }, digits)).toBe(true);
    },
  );

  test.each([14155550100, 18002345678, 447911123456, 4930123456, 33612345678, 390612345678])('+%i is open', (digits) =>
    expect(mayCall(anywhere, digits)).toBe(true),
  );
});

describe('numbers that cost as much', () => {
  test.each([
    [447012345678, 'a personal number'],
    [8816123456789, 'a satellite network'],
    [870773111632, 'a satellite network'],
    [8821612345, 'an international network'],
    [883510000000000, 'an international network'],
    [878101234567890, 'a personal number of no country'],
    [447640123456, 'a pager of the United Kingdom'],
    [979123456789, 'an international premium-rate number'],
  ])('+%i, %s, is closed with them', (digits) => {
    expect(refusalOf(anywhere, digits)).toBe('country_not_allowed');
    expect(refusalOf({ ...anywhere, premiumRate: true }, digits)).toBeUndefined();
  });
});

describe('numbers that no plan has', () => {
  const everything = { countries: [], premiumRate: true };

  test.each([
    911, 112, 1911, 44999, 44112, 49112, 49110, 353999, 358112, 61000, 81119, 5511190, 49116117, 353116123, 14150000000,
    493, 999123456789,
  ])('%i is never called', (digits) => expect(refusalOf(everything, digits)).toBe('invalid_number'));

  test.each([14155550100, 4930901820, 6834100, 29022345, 35312345678, 3545812345])('%i may be called', (digits) =>
    expect(refusalOf(anywhere, digits)).toBeUndefined(),
  );
});

describe('countries', () => {
  const calls = (digits: number, ...countries: string[][]) => mayCall({ countries, premiumRate: false }, digits);

  test('every list must hold', () => {
    expect(calls(4930123456, ['DE', 'FR'])).toBe(true);
    expect(calls(4930123456, ['DE'], [])).toBe(true);
    expect(calls(4930123456, ['DE'], ['FR'])).toBe(false);
  });

  test('a number of no country lies in no list', () => {
    expect(calls(80012345678)).toBe(true);
    expect(calls(80012345678, ['US'])).toBe(false);
  });
});
