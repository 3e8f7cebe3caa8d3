import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeZoneOfCountry } from '../../../lines/phone-numbers/country-time-zone.ts';
import { guardCell, unguardCell } from './cell-guard.ts';
import { detectDelimiter } from './delimiter.ts';
import { ERROR_REPORT_HEADER, errorReportLines } from './error-report.ts';
import { readHeader } from './header.ts';
import { type ContactBatch, type ReadOptions, readContacts } from './read-contacts.ts';
import { SeenNumbers } from './seen-numbers.ts';
import { readTimeZone } from './time-zone.ts';

async function* sourceOf(content: string | Uint8Array) {
  const bytes = Buffer.from(content as string);
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

async function readAll(content: string | Uint8Array, options: ReadOptions = {}) {
  const batches: ContactBatch[] = [];
  for await (const batch of readContacts(sourceOf(content), options)) batches.push(batch);
  return {
    batches,
    variables: batches.at(-1)!.variables,
    contacts: batches.flatMap((batch) => batch.contacts),
    faults: batches.flatMap((batch) => batch.faults),
    invalidRows: batches.flatMap((batch) => batch.rejected.map(({ row }) => row.row)),
    duplicates: batches.reduce((sum, batch) => sum + batch.duplicateRows, 0),
    rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
  };
}

describe('readContacts', () => {
  it('reads a file as people have them', async () => {
    const read = await readAll(
      [
        '\ufeffPhone Number;Name;Time Zone;City;City;;__proto__',
        "'+14155550100;Ann;america/new_york;Berlin;Bonn;x;y",
        '(212) 555-0142;"Bob; the ""2nd""";;New',
        '',
        '2125550142;Bob again',
        '911;Nobody',
        ';Blank',
        '+442079460000;Carol;Mars/Phobos',
        '+442079460001;D;;1;2;3;4;5',
        '+442079460002;E;;1;2;3;4;;;',
        '0044 20 7946 0003;"F\nG";;\'=1+1;=SUM(A1)',
        '+442079460004;"open;;1',
      ].join('\r\n'),
      { defaultCountry: 'US' },
    );
    expect(read.variables).toEqual(['City', 'City_2', 'column_6', 'column_7']);
    expect(read.contacts).toEqual([
      {
        row: 2,
        phoneColumn: 0,
        phoneNumber: 14155550100,
        country: 'US',
        name: 'Ann',
        timezone: 'America/New_York',
        values: ['Berlin', 'Bonn', 'x', 'y'],
      },
      {
        row: 3,
        phoneColumn: 0,
        phoneNumber: 12125550142,
        country: 'US',
        name: 'Bob; the "2nd"',
        timezone: undefined,
        values: ['New', '', '', ''],
      },
      {
        row: 10,
        phoneColumn: 0,
        phoneNumber: 442079460002,
        country: 'GB',
        name: 'E',
        timezone: undefined,
        values: ['1', '2', '3', '4'],
      },
      {
        row: 11,
        phoneColumn: 0,
        phoneNumber: 442079460003,
        country: 'GB',
        name: 'F\nG',
        timezone: undefined,
        values: ['=1+1', '=SUM(A1)', '', ''],
      },
    ]);
    expect(read.faults.map(({ row, column, value, code }) => [row, column, value, code])).toEqual([
      [5, 'Phone Number', '2125550142', 'duplicate'],
      [6, 'Phone Number', '911', 'invalid_phone'],
      [7, 'Phone Number', '', 'missing_phone'],
      [8, 'Time Zone', 'Mars/Phobos', 'invalid_timezone'],
      [9, 'column_8', '5', 'too_many_fields'],
      [12, '', '+442079460004;"open;;1', 'unclosed_quote'],
    ]);
    expect(read.invalidRows).toEqual([6, 7, 8, 9, 12]);
    expect([read.rows, read.duplicates]).toEqual([10, 1]);
  });

  it('tells of every duplicate which row it repeats', async () => {
    const read = await readAll('name,phone\nA,+14155550100\nB,+14155550101\nC,(415) 555-0100\n', {
      defaultCountry: 'US',
    });
    expect(read.duplicates).toBe(1);
    expect(read.invalidRows).toEqual([]);
    const reason = 'Row 2 has this number already, and is kept.';
    expect(read.faults).toEqual([{ row: 4, column: 'phone', value: '(415) 555-0100', code: 'duplicate', reason }]);
  });

  it.each([
    ['a value below a blank title', 'phone,name,\n+14155550100,Ann,x\n', 'unnamed_column', 'no name for column 3'],
    ['a field too many', 'phone,name\n+14155550100,Ann,x\n', 'too_many_fields', 'Put quotes around'],
    [
      'another delimiter than the header has',
      'phone;name\n+14155550100,Ann\n',
      'wrong_delimiter',
      'parted by ";", this row by ","',
    ],
    ['tabs below commas', 'phone,name\n+14155550100\tAnn\n', 'wrong_delimiter', 'this row by tabs'],
  ])('advises on %s', async (_, content, code, reason) => {
    const read = await readAll(`${content}+14155550199\n`);
    expect(read.faults).toMatchObject([{ code, reason: expect.stringContaining(reason) }]);
  });

  it('says how it reads the file, and whether that is a guess', async () => {
    const format = async (content: string | Uint8Array) => (await readAll(content)).batches.at(-1)!.format;
    const utf8 = { encoding: 'utf-8', encodingGuessed: false, delimiter: ';', phoneColumn: 'Tel' };
    expect(await format('Tel;Ort\n+14155550100;Berlin')).toEqual(utf8);
    expect(await format('Tel;Ort\n+14155550100;Köln')).toEqual(utf8);
    const latin = Buffer.from('Tel;Ort\n+14155550100;Köln', 'latin1');
    expect(await format(latin)).toEqual({
      ...utf8,
      encoding: 'windows-1252',
      encodingGuessed: true,
      encodingCertainty: 1,
    });
    const wide = Buffer.from('\ufeffTel\n+14155550100', 'utf16le');
    expect(await format(wide)).toMatchObject({ encoding: 'utf-16le', encodingGuessed: false, delimiter: ',' });
    expect(await format(wide.subarray(2))).toMatchObject({ encoding: 'utf-16le', encodingGuessed: true });
  });

  it('counts a row with two faults once', async () => {
    const read = await readAll('phone,timezone\n+14155550100,\n1,x\n');
    expect(read.faults.map((fault) => fault.code)).toEqual(['invalid_phone', 'invalid_timezone']);
    expect(read.invalidRows).toEqual([3]);
  });

  it('gives totals that add up, whatever the rows hold', async () => {
    const cell = fc.constantFrom('+14155550100', '+14155550101', '911', '', '"', '"a', 'x,y,z', ' ', '+442079460000');
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { maxLength: 30 }), async (cells) => {
        const read = await readAll(`phone,a\n+12125550100,\n${cells.join('\n')}`);
        expect(read.contacts.length + read.invalidRows.length + read.duplicates).toBe(read.rows);
        expect(new Set(read.contacts.map((contact) => contact.phoneNumber)).size).toBe(read.contacts.length);
      }),
    );
  });

  it.each([
    ['an empty file', '', {}, 'unreadable_file', 'empty'],
    ['blank lines', '\n\n', {}, 'unreadable_file', 'empty'],
    ['no phone column', 'name,city\nAnn,Berlin', {}, 'no_phone_column', 'Found: "name", "city"'],
    ['no header', '+14155550100,Ann\n', {}, 'no_phone_column', 'first row has to name the columns'],
    ['only a header', 'phone\n', {}, 'no_valid_row', 'no rows'],
    ['no valid row', 'phone\n911\n', {}, 'no_valid_row', 'Not one row'],
    ['only national numbers', 'phone\n0301234567\n', {}, 'no_valid_row', 'Row 2: A number without + and country code'],
    ['too many rows', 'phone\n+14155550100\n+14155550101\n', { maxRows: 1 }, 'too_many_rows', 'more than 1 rows'],
    ['too many columns', 'phone,a,b\n', { maxColumns: 2 }, 'too_many_columns', '3 columns'],
    ['too many bytes', 'phone\n+14155550100\n', { maxBytes: 10 }, 'file_too_large', '10 bytes'],
  ])('refuses %s', async (_, content, limits, code, message) => {
    await expect(readAll(content, { limits })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('still hands over the faults of a file without a valid row', async () => {
    const seen: string[] = [];
    const reading = (async () => {
      for await (const batch of readContacts(sourceOf('phone\n911\n'))) seen.push(...batch.faults.map((f) => f.code));
    })();
    await expect(reading).rejects.toMatchObject({ code: 'no_valid_row' });
    expect(seen).toEqual(['invalid_phone']);
  });

  it('cuts batches by rows and by size, with progress', async () => {
    const many = Array.from({ length: 12_500 }, (_, n) => `+1415${2_000_000 + n}`).join('\n');
    const read = await readAll(`phone\n${many}`);
    expect(read.batches.map((batch) => batch.rows)).toEqual([...Array(50).fill(250), 0]);
    expect(read.batches.at(-1)!.bytesRead).toBe(6 + many.length);
    const wide = Array.from({ length: 200 }, (_, n) => `+1415${2_000_000 + n},${'x'.repeat(60_000)}`).join('\n');
    const sizes = (await readAll(`phone,text\n${wide}`)).batches.map((batch) => batch.rows);
    expect(Math.max(...sizes)).toBeLessThan(75);
  });
});

describe('readHeader', () => {
  it.each([
    'phone_number',
    'Phone Number',
    'PHONE',
    'phonenumber',
    'Mobile',
    ' telephone ',
    'Number',
    '"account"no',
    '"phone type',
    '"Fax number',
    '"Phone Country Code',
    'tel.',
    'Phone Number (mobile)',
    'Cell Phone',
    'mobilePhone',
    'Work phone 2',
    'Contact Phone No.',
    'Telefon',
    'Telefonnummer',
    'Tel.-Nr.',
    'Handy (privat)',
    'Rufnummer',
    'Téléphone',
    'N° de téléphone portable',
    'Teléfono',
    'Número de móvil',
    'Celular',
    'Telefone',
    'Telemóvel',
    'Numero di telefono',
    'Cellulare',
    'Telefoonnummer',
    'Numer telefonu',
    'Telefonní číslo',
    'Telefonszám',
    'Puhelinnumero',
    'Mobilnummer',
    'Cep Telefonu',
    'Номер телефона',
    'Мобильный',
    'Мобільний',
    'Τηλέφωνο',
    '电话',
    '手机号码',
    '電話番号',
    '携帯電話',
    '전화번호',
    '휴대폰 번호',
    'رقم الهاتف',
    'טלפון נייד',
    'मोबाइल नंबर',
    'เบอร์โทรศัพท์',
    'Số điện thoại',
    'Nomor Telepon',
  ])('finds the phone column in %s, or says that there is none', (title) => {
    if (title.startsWith('"')) expect(() => readHeader(['a', title], 64)).toThrow('No column holds phone numbers');
    else expect(readHeader(['a', title], 64).phones[0]).toBe(1);
  });

  it('takes the better column, wherever it stands', () => {
    expect(readHeader(['Number', 'Telefon'], 64).phones[0]).toBe(1);
    expect(readHeader(['Number', 'Home phone', 'Telefon'], 64).phones[0]).toBe(2);
    expect(readHeader(['Phone type', 'Number'], 64).phones[0]).toBe(1);
  });

  it('takes the column that is named, whatever it is called', () => {
    const titles = ['Phone', 'Kontakt  (privat)', 'name', 'Kontakt'];
    expect(readHeader(titles, 64, { phoneColumn: 'Kontakt' }).phones[0]).toBe(3);
    expect(readHeader(titles, 64, { phoneColumn: 'kontakt privat' }).phones[0]).toBe(1);
    expect(readHeader(titles, 64, { phoneColumn: 'name' })).toMatchObject({ phones: [2], names: [] });
    expect(() => readHeader(titles, 64, { phoneColumn: 'Fon' })).toThrow(
      'No column is called "Fon", as phoneColumns says. Found: "Phone"',
    );
  });

  it('prefers phone_number, and keeps the others as variables', () => {
    const header = readHeader(['number', 'mobile', 'Phone Number', 'name'], 64);
    expect(header.phones).toEqual([2, 1]);
    expect(header.variables).toEqual([
      { name: 'number', column: 0 },
      { name: 'mobile', column: 1 },
    ]);
  });

  it('gives every column a name of its own', () => {
    const titles = ['phone', 'city', 'city', 'city_2', '', 'column_5', 'constructor', 'prototype', 'x'.repeat(99)];
    const names = readHeader(titles, 64).columns;
    expect(names).toEqual([
      'phone',
      'city',
      'city_3',
      'city_2',
      'column_5_2',
      'column_5',
      'column_7',
      'column_8',
      'x'.repeat(64),
    ]);
  });

  it('forgets blank columns at the end', () => {
    expect(readHeader(['phone', 'a', '', ' '], 2).width).toBe(2);
  });
});

describe('detectDelimiter', () => {
  it.each([
    ['phone;name\n+1;"a, b, c"\n', ';'],
    ['phone\tname\n+1\tDoe, J\n', '\t'],
    ['phone|name\n+1|x\n', '|'],
    ['phone,note\n+1,a;b;c\n', ','],
    ['phone\n+1\n', ','],
  ])('finds it in %j', (sample, delimiter) => expect(detectDelimiter(sample)).toBe(delimiter));
});

describe('error report', () => {
  it('guards cells against being run as formulas, and reading takes the guard off', () => {
    for (const cell of ['=1+1', '+1415', '-1', '@x', '\tx', '\rx', "'=1", '＝1+1', '＋1415', '－1', '＠x'])
      expect(guardCell(cell)).toBe(`'${cell}`);
    expect(guardCell("'tis")).toBe("'tis");
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '＝', '＠', 'a') }),
        (cell) => {
          expect(unguardCell(guardCell(cell))).toBe(cell);
          expect(guardCell(cell)).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
        },
      ),
    );
  });

  it('quotes what must be quoted', () => {
    const fault = { row: 7, column: 'phone', value: '+1 "x",\n', code: 'invalid_phone', reason: 'No number.' } as const;
    expect(ERROR_REPORT_HEADER + errorReportLines([fault])).toBe(
      'row,column,value,code,reason\r\n7,phone,"\'+1 ""x"",\n",invalid_phone,No number.\r\n',
    );
  });
});

describe('time zones', () => {
  it('knows names in any case, and refuses offsets and inventions', () => {
    expect(readTimeZone('asia/kolkata')).toBe('Asia/Kolkata');
    expect(readTimeZone('US/Eastern')).toBe('US/Eastern');
    expect(readTimeZone('utc')).toBe('UTC');
    for (const text of ['+02:00', 'Mars/Phobos', '', 'a'.repeat(99)]) expect(readTimeZone(text)).toBeUndefined();
  });

  it('derives a zone only where the whole country has one clock', () => {
    expect(timeZoneOfCountry('DE')).toBe('Europe/Berlin');
    expect(timeZoneOfCountry('JP')).toBe('Asia/Tokyo');
    for (const country of ['US', 'ES', 'CN', 'AU', 'XX']) expect(timeZoneOfCountry(country)).toBeUndefined();
  });
});

describe('SeenNumbers', () => {
  it('knows every number, and the row where it was first', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.integer({ min: 1, max: 50 }),
            fc.maxSafeNat().map((n) => n + 1),
          ),
          { maxLength: 5000 },
        ),
        (numbers) => {
          const rows = new Map<number, number>();
          const seen = new SeenNumbers();
          for (const [row, number] of numbers.entries()) {
            expect(seen.add(number, row)).toBe(rows.get(number));
            if (!rows.has(number)) rows.set(number, row);
          }
          expect(seen.size).toBe(rows.size);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('adds a million neighbouring numbers without slowing down', () => {
    const seen = new SeenNumbers();
    for (let n = 0; n < 1_000_000; n += 1) seen.add(14_150_000_000 + n, n);
    expect(seen.size).toBe(1_000_000);
  });
});
