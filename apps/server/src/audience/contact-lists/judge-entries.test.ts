import { expect, it } from 'vitest';
import { judgeEntries } from './judge-entries.ts';

const limits = { maxColumns: 3, maxRowLength: 100 };
const judge = (sent: readonly unknown[], defaultCountry?: string) => judgeEntries(sent, { defaultCountry, limits });

it('reads entries as rows of a file: numbers by the country of the list, texts without the space around them', () => {
  const sent = [
    { phoneNumber: '030 901820', name: ' Ana ', timezone: 'europe/lisbon', variables: { city: ' Köln ', note: null } },
    { phoneNumber: '+4930901821', name: null, timezone: '', variables: {} },
  ];
  const { entries, rejected } = judge(sent, 'DE');
  expect(rejected).toEqual([]);
  expect(entries).toEqual([
    { phoneNumber: 4930901820, name: 'Ana', timezone: 'Europe/Lisbon', variables: { city: 'Köln' } },
    { phoneNumber: 4930901821, name: null, timezone: null, variables: {} },
  ]);
});

it('keeps the first of those with one number, and says which that is', () => {
  const { entries, rejected } = judge([{}, { phoneNumber: '+14155550142' }, { phoneNumber: '+1 415 555 0142' }]);
  expect(entries).toHaveLength(1);
  expect(rejected[1]).toEqual({
    index: 2,
    phoneNumber: '+1 415 555 0142',
    code: 'duplicate',
    error: 'Entry 1 has this number already, and is kept.',
  });
});

const phoneNumber = '+14155550142';
it.each<[string, unknown, string]>([
  ['no object', 7, 'invalid_entry'],
  ['a number for text', { phoneNumber: 14155550142 }, 'invalid_entry'],
  ['an unknown field', { phoneNumber, colour: 'red' }, 'invalid_entry'],
  ['a name of another type', { phoneNumber, name: 7 }, 'invalid_entry'],
  ['variables of another type', { phoneNumber, variables: [] }, 'invalid_entry'],
  ['a value of another type', { phoneNumber, variables: { a: 7 } }, 'invalid_entry'],
  ['a name that is too long', { phoneNumber, variables: { ['n'.repeat(65)]: '' } }, 'invalid_entry'],
  ['a blank name', { phoneNumber, variables: { ' ': '' } }, 'invalid_entry'],
  ['an empty number', { phoneNumber: ' ' }, 'missing_phone'],
  ['a national number without a country', { phoneNumber: '(415) 555-0142' }, 'default_country_needed'],
  ['no number', { phoneNumber: 'CALL NOW' }, 'invalid_phone'],
  ['two numbers', { phoneNumber: '+14155550142, +14155550143' }, 'several_phones'],
  ['no time zone', { phoneNumber, timezone: 'Mars/Olympus' }, 'invalid_timezone'],
  ['too many variables', { phoneNumber, variables: { a: '', b: '', c: '', d: '' } }, 'too_many_fields'],
  ['more than a row may hold', { phoneNumber, variables: { a: 'x'.repeat(100) } }, 'row_too_long'],
])('rejects %s', (_, sent, code) => {
  expect(judge([sent]).rejected).toMatchObject([{ index: 0, code, error: expect.stringMatching(/.{10,}\.$/) }]);
});
