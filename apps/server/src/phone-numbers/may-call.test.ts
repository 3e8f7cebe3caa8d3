import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { mayCall } from './may-call.ts';

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

describe('countries', () => {
  const calls = (digits: number, ...countries: string[][]) => mayCall({ countries, premiumRate: false }, digits);

  test('every list must hold', () => {
    expect(calls(4930123456, ['DE', 'FR'])).toBe(true);
    expect(calls(4930123456, ['DE'], [])).toBe(true);
    expect(calls(4930123456, ['DE'], ['FR'])).toBe(false);
  });

  test('a number of no country lies in no list', () => {
    expect(calls(883510000000000)).toBe(true);
    expect(calls(883510000000000, ['US'])).toBe(false);
  });
});
