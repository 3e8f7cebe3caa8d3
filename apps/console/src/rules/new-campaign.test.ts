import { describe, expect, test } from 'vitest';
import { allCountries, countryOf } from './countries.ts';
import { type ContactList, failureSays, formatSays, listNameOf, rowsSay, sizeSays } from './files.ts';
import { type Column, cellsToMend, changeOf, choiceSays, choicesFor, mapped, phonesOf } from './mapping.ts';
import { openSteps, stepAfter, stepOf } from './steps.ts';
import type { Campaign } from './words.ts';

const columns: Column[] = [
  { name: 'Name', use: 'name' },
  { name: 'Mobil', use: 'phone' },
  { name: 'Festnetz', use: 'phone' },
  { name: 'Ort', use: 'variable' },
  { name: '', use: 'variable' },
  { name: 'Einwilligung', use: 'consent' },
];
const phones = ['Festnetz', 'Mobil'];

describe('what a column is', () => {
  test('the phones stand in the order in which they are called', () => {
    expect(phonesOf(columns, 'Festnetz')).toEqual(phones);
    expect(phonesOf(columns, undefined)).toEqual(['Mobil', 'Festnetz']);
  });

  test.each([
    [3, 'phone-1', { phoneColumns: ['Ort', 'Festnetz', 'Mobil'] }],
    [1, 'phone-1', { phoneColumns: ['Mobil', 'Festnetz'] }],
    [1, 'variable', { phoneColumns: ['Festnetz'] }],
    [2, 'name', { phoneColumns: ['Mobil'], nameColumns: ['Name', 'Festnetz'] }],
    [0, 'timezone', { nameColumns: [], timezoneColumns: ['Name'] }],
    [4, 'do_not_call', { doNotCallColumns: ['column_5'] }],
  ])('column %i becomes %s, and no more is said than that changes', (at, choice, change) => {
    expect(changeOf(columns, phones, at, choice)).toEqual(change);
  });

  test('several changes are said at once', () => {
    const first = mapped({ columns, phones, said: {} }, 3, 'phone-1');
    const both = mapped(first, 0, 'variable');
    expect(both.said).toEqual({ phoneColumns: ['Ort', 'Festnetz', 'Mobil'], nameColumns: [] });
    expect(both.columns.slice(0, 4).map(({ use }) => use)).toEqual(['variable', 'phone', 'phone', 'phone']);
  });

  test('one column of phones must stay', () => {
    expect(changeOf(columns.slice(0, 2), ['Mobil'], 1, 'variable')).toBeUndefined();
  });

  test('what can be chosen has what it is now, and says it in words', () => {
    expect(choicesFor(columns, phones, 3).map(choiceSays)).toEqual([
      ...['phone, 1st choice', 'phone, 2nd choice', 'phone, 3rd choice'],
      ...['name', 'time zone', 'who is not to be called', 'told to the agent'],
    ]);
    expect(choicesFor(columns, phones, 1)).toHaveLength(6);
    expect(choicesFor(columns, phones, 5).at(-1)).toBe('consent');
  });
});

test('the cells at fault are mended, and all of a row that can’t be parted', () => {
  const error = { value: '', code: 'invalid_phone', reason: '' } as const;
  const wrong = { cells: ['Ann', '1', '2', 'Rom'], errors: [{ ...error, column: 'Festnetz' }] };
  expect(cellsToMend(columns, wrong, ';')).toEqual([{ title: 'Festnetz', value: '2' }]);
  const surplus = {
    code: 'too_many_fields',
    value: 'more',
    reason: '',
    column: `column_${columns.length + 1}`,
  } as const;
  const long = {
    cells: [...Array(columns.length).fill('x'), 'more'],
    errors: [surplus, { ...error, column: 'Festnetz' }],
  };
  expect(cellsToMend(columns, long, ';')).toEqual([
    { title: 'Festnetz', value: 'x' },
    { title: surplus.column, value: 'more' },
  ]);
  const whole = { cells: ['Udo;030 1;;"24 wide;'], errors: [{ ...error, column: '' }] };
  expect(cellsToMend(columns.slice(0, 4), whole, ';').map(({ value }) => value)).toEqual([
    'Udo',
    '030 1',
    '',
    '24 wide',
  ]);
});

describe('a file, in words', () => {
  test('how it was read', () => {
    const format = {
      encoding: 'windows-1250',
      delimiter: ';',
      encodingGuessed: true,
      encodingCertainty: 0.979,
    } as const;
    expect(formatSays(format)).toMatch(/found by its words, 97 % certain; its cells are parted by semicolons\./);
    expect(formatSays({ ...format, sheet: 'Leads' })).toBe('Read from the sheet “Leads” of a workbook.');
  });

  test('what can be imported of it', () => {
    const rows = { totalRows: 1200, validRows: 1197, invalidRows: 2, duplicateRows: 1 };
    expect(rowsSay(rows)).toBe('1,200 rows: 1,197 can be imported, 2 can’t, 1 repeats a number further up.');
    expect(rowsSay({ ...rows, invalidRows: 0, duplicateRows: 0 })).toBe('1,200 rows: 1,197 can be imported.');
  });

  test('why nothing can be, and what to do here instead of what a program would', () => {
    const code = 'no_phone_column';
    const message =
      'No column holds phone numbers by its name. Found: "a". Say by phoneColumns which one does: change it.';
    expect(failureSays({ code, message })).toEqual([
      'No column holds phone numbers by its name. Found: "a".',
      'Say below which column holds the phone numbers.',
    ]);
    expect(failureSays({ code: 'unreadable_file', message: 'A PDF.' })[1]).toMatch(/begin anew/);
  });

  test('its size, and its list’s name', () => {
    expect([12, 1400, 2_340_000].map(sizeSays)).toEqual(['12 bytes', '1 kB', '2.3 MB']);
    expect(listNameOf('Kunden\t2026.final.xlsx')).toBe('Kunden 2026.final');
    expect(listNameOf('.csv')).toBe('Contacts');
  });
});

test('a country is found by the browser’s language, and each stands once among all', () => {
  expect(['de', 'pt-BR', 'en'].map(countryOf)).toEqual(['DE', 'BR', 'US']);
  const names = allCountries().map(({ name }) => name);
  expect(names).toContain('United Kingdom');
  expect(new Set(names).size).toBe(names.length);
});

describe('where one stands', () => {
  const list = (status: string, upload?: string) =>
    ({ status, ...(upload && { uploadDetails: { status: upload } }) }) as ContactList;
  const draft = {} as Campaign;

  test.each([
    [undefined, undefined, 'file'],
    [list('draft', 'pending'), undefined, 'file'],
    [list('draft', 'expired'), undefined, 'file'],
    [list('draft', 'validating'), undefined, 'columns'],
    [list('draft', 'failed'), undefined, 'columns'],
    [list('ready', 'processed'), undefined, 'people'],
    [list('ready'), undefined, 'people'],
    [list('ready', 'processed'), draft, 'hours'],
  ])('%j and a draft %j is at %s', (contacts, made, step) => {
    expect(stepOf(undefined, contacts, made)).toBe(step);
    expect(openSteps(contacts, made)).toContain(step);
  });

  test('a step that can’t be opened yet is not shown, and one that may not be taken is passed over', () => {
    expect(stepOf('start', list('ready'), undefined)).toBe('people');
    expect(stepOf('file', list('ready'), draft)).toBe('file');
    expect(stepAfter('hours', (permission) => permission !== 'calls:write')).toBe('start');
    expect(stepAfter('start', () => true)).toBeUndefined();
  });
});
