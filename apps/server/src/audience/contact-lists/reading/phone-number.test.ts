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
    ['4930123456.00', 'DE', 4930123456, 'DE'],
    ['4155550100,00', 'US', 14155550100, 'US'],
    ['4,155,550,100', 'US', 14155550100, 'US'],
    ['4,930,123,456.00', 'DE', 4930123456, 'DE'],
    ['4.930.123.456,00', 'DE', 4930123456, 'DE'],
    ['\u202a+1\u00a0415\u00a0555\u20110100\u202c', undefined, 14155550100, 'US'],
    ['+80012345678', undefined, 80012345678, undefined],
    ['0011 64 6 345 6789', 'AU', 6463456789, 'NZ'],
    ['0064 6 345 6789', 'AU', 6463456789, 'NZ'],
    ['00 1 415 555 0100', 'AU', 14155550100, 'US'],
    ['001 44 20 7946 0000', 'SG', 442079460000, 'GB'],
    ['008 44 20 7946 0000', 'SG', 442079460000, 'GB'],
    ['001 44 20 7946 0000', 'HK', 442079460000, 'GB'],
    ['001 44 20 7946 0000', 'TH', 442079460000, 'GB'],
    ['00700 44 20 7946 0000', 'KR', 442079460000, 'GB'],
    ['008 44 20 7946 0000', 'ID', 442079460000, 'GB'],
    ['009 44 20 7946 0000', 'NG', 442079460000, 'GB'],
    ['009 44 20 7946 0000', 'CO', 442079460000, 'GB'],
    ['002 44 20 7946 0000', 'TW', 442079460000, 'GB'],
    ['001 44 20 7946 0000', 'KH', 442079460000, 'GB'],
    ['810 44 20 7946 0000', 'RU', 442079460000, 'GB'],
    ['4915112345678', 'DE', 4915112345678, 'DE'],
    ['49 (0)151 12345678', 'DE', 4915112345678, 'DE'],
    ['46701234567', 'SE', 46701234567, 'SE'],
    ['6281234567890', 'ID', 6281234567890, 'ID'],
    ['15112345678', 'DE', 4915112345678, 'DE'],
    ['8 (495) 123-45-67', 'RU', 74951234567, 'RU'],
    ['11 91234-5678', 'BR', 5511912345678, 'BR'],
    ['372 323 5353', 'IT', 393723235353, 'IT'],
    ['05.02.20', 'NC', 687050220, 'NC'],
    ['030/901820', 'DE', 4930901820, 'DE'],
    ['+49/30/901820-0', undefined, 49309018200, 'DE'],
    ["'08031234567", 'NG', 2348031234567, 'NG'],
    ['\u2019030 901820', 'DE', 4930901820, 'DE'],
    ['\u0660\u0663\u0660 \u0669\u0660\u0661\u0668\u0662\u0660', 'DE', 4930901820, 'DE'],
    ['\uff0b49\uff13\uff10\u3000901820', undefined, 4930901820, 'DE'],
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

  it.each([
    ['33612345678', 'DE', 'ambiguous_phone', '+4933612345678 or +33612345678'],
    ['33612345678', 'US', 'invalid_phone', 'Should this be +33612345678?'],
    ['4930901820', 'GB', 'invalid_phone', '+4930901820'],
    ['001 658 912 3456', 'HK', 'ambiguous_phone', '+6589123456 or +16589123456'],
    ['007 474 061 2346', 'NO', 'ambiguous_phone', '+74740612346 or +4740612346'],
    ['001 658 912 3456', 'SG', 'ambiguous_phone', '+6589123456 or +16589123456'],
    ['001 479 212 3456', 'NO', 'ambiguous_phone', '+14792123456 or +4792123456'],
    ['00 812 3456 7890', 'ID', 'ambiguous_phone', '+81234567890 or +6281234567890'],
    ['030 901820 / 901821', 'DE', 'several_phones', 'more than one'],
    ['030 901820/21', 'DE', 'several_phones', 'more than one'],
    ['+49 30 901820, +49 30 901821', undefined, 'several_phones', 'more than one'],
    ['0301234567 oder 0307654321', 'DE', 'several_phones', 'more than one'],
    ['2026-11-22', 'DE', 'invalid_phone', 'date'],
    ['22.11.2026', 'DE', 'invalid_phone', 'date'],
    ['22.11.26', 'DE', 'invalid_phone', 'date'],
    ['11/22/2026', 'US', 'invalid_phone', 'date'],
    ['2026-11-22 10:30', 'US', 'invalid_phone', 'date'],
    ['#N/A', 'US', 'invalid_phone', 'formula'],
    ['NULL', 'US', 'invalid_phone', 'export found no number'],
    ['n/a', 'US', 'invalid_phone', 'export found no number'],
    ['########', 'US', 'invalid_phone', 'too narrow'],
    ['030 901820', undefined, 'default_country_needed', 'defaultCountry'],
    ['hello', undefined, 'invalid_phone', 'not a phone number'],
    ['+4930901820901821', undefined, 'invalid_phone', 'No numbering plan'],
  ])('refuses %s (%s) as %s, and says %s', (cell, defaultCountry, code, reason) => {
    const read = readPhoneNumber(cell, defaultCountry);
    expect(read).toMatchObject({ code, reason: expect.stringContaining(reason) });
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
