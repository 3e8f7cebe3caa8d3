import fc from 'fast-check';
import { getCountries, getExampleNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { readPhoneNumber } from './phone-number.ts';

describe('readPhoneNumber', () => {
  it.each([
    ['+14155550100', undefined, 14155550100, 'US'],
    [' +1 (415) 555-0100 ', undefined, 14155550100, 'US'],
    ['(415) 555-0100', 'US', 14155550100, 'US'],
    ['1-415-555-0100', 'US', 14155550100, 'US'],
    ['416 555 0100', 'US', 14165550100, 'CA'],
    ['020 7946 0000', 'GB', 442079460000, 'GB'],
    ['030 123456', 'DE', 4930123456, 'DE'],
    ['+49 (0)30 123456', undefined, 4930123456, 'DE'],
    ['0044 20 7946 0000', undefined, 442079460000, 'GB'],
    ['011 44 20 7946 0000', 'US', 442079460000, 'GB'],
    ['tel:+1-415-555-0100', undefined, 14155550100, 'US'],
    ["'+14155550100", undefined, 14155550100, 'US'],
    ['="+14155550100"', undefined, 14155550100, 'US'],
    ['14155550100.0', 'US', 14155550100, 'US'],
    ['\u202a+1\u00a0415\u00a0555\u20110100\u202c', undefined, 14155550100, 'US'],
    ['+80012345678', undefined, 80012345678, undefined],
  ])('reads %s (%s)', (cell, defaultCountry, digits, country) => {
    expect(readPhoneNumber(cell, defaultCountry)).toEqual({ digits, country });
  });

  it("takes every North American 555-01XX, the simulator's magic numbers, for a number", () => {
    for (const area of ['200', '415', '555', '989']) {
      expect(readPhoneNumber(`+1${area}5550142`)).toMatchObject({ digits: Number(`1${area}5550142`) });
    }
  });

  it.each([
    '911',
    '112',
    '999',
    '+1911',
    '+112',
    '00',
    'n/a',
    '+1415555010',
    '+141555501000',
    '123',
    '1.41555E+10',
    '415-555-0100 x12',
    'call +14155550100',
    '+',
    '=',
    "'",
    '+0123456789',
    `+1${'4'.repeat(100)}`,
  ])('refuses %s', (cell) => {
    expect(readPhoneNumber(cell, 'US')).toMatchObject({ code: 'invalid_phone' });
  });

  it('tells a blank from a bad number, and why a bad one is bad', () => {
    expect(readPhoneNumber(' \u00a0 ')).toMatchObject({ code: 'missing_phone' });
    expect(readPhoneNumber("'")).toMatchObject({ code: 'invalid_phone' });
    expect(readPhoneNumber('1.41555E+10', 'US')).toMatchObject({ reason: expect.stringContaining('spreadsheet') });
    expect(readPhoneNumber('4155550100')).toMatchObject({ reason: expect.stringContaining('defaultCountry') });
    expect(readPhoneNumber('415-555-0100 ext. 9', 'US')).toMatchObject({
      reason: expect.stringContaining('extension'),
    });
  });

  it('reads the example of every country, in both of its forms', () => {
    for (const country of getCountries()) {
      const example = getExampleNumber(country, examples);
      if (!example) continue;
      const digits = Number(example.number.slice(1));
      const international = parsePhoneNumberFromString(example.number);
      expect(readPhoneNumber(example.number)).toEqual({ digits, country: international?.country });
      expect(readPhoneNumber(example.formatNational(), country)).toMatchObject({ digits });
    }
  });

  it('agrees with the library on any digits', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{6,14}$/);
    const american = fc.stringMatching(/^(1[2-9]|4[4-9]|7)[0-9]{9,10}$/);
    fc.assert(
      fc.property(fc.oneof(digits, american), (number) => {
        fc.pre(!/^1[2-9]\d\d55501\d\d$/.test(number));
        const library = parsePhoneNumberFromString(`+${number}`, { extract: false });
        const read = readPhoneNumber(`+${number}`);
        if (!library?.isValid()) expect(read).toMatchObject({ code: 'invalid_phone' });
        else expect(read).toEqual({ digits: Number(library.number.slice(1)), country: library.country });
      }),
      { numRuns: 5000 },
    );
  });
});
