import { gzipSync } from 'node:zlib';
import * as sheetjs from '@e965/xlsx';
import iconv from 'iconv-lite';
import type { ReadOptions } from '../../../../src/audience/contact-lists/reading/read-contacts.ts';

/** A file as another program writes it: who is in it, such as `14155550100 Ana`, or in what words it is refused. */
export interface ForeignFile {
  name: string;
  bytes: Uint8Array;
  options?: ReadOptions;
  people?: string[];
  /** Numbers of rows that are left out. */
  leftOut?: number[];
  refused?: RegExp;
}

interface CsvOptions extends ReadOptions {
  written?: string;
  addBOM?: boolean;
  leftOut?: number[];
}

const csv = (
  name: string,
  text: string,
  people: string[],
  { written = 'utf-8', addBOM = false, leftOut = [], ...options }: CsvOptions = {},
): ForeignFile => ({ name, bytes: iconv.encode(text, written, { addBOM }), options, people, leftOut });

/** Excel's "CSV" on a Windows of each kind: titles, then each person's name, phone, and the number that it is. */
const CODE_PAGES: ForeignFile[] = `
DE windows-1252 | Name;Telefon | Jürgen Groß;030 901820;4930901820 | Björn Schäfer;030 901821;4930901821
FR windows-1252 | Nom;Téléphone | Hélène Lefèvre;01 23 45 67 89;33123456789 | François Noël;01 23 45 67 90;33123456790
ES windows-1252 | Nombre;Teléfono | José Peña;912 345 678;34912345678 | María Núñez;912 345 679;34912345679
BR windows-1252 | Nome;Celular | João Conceição;(11) 96123-4567;5511961234567
PL windows-1250 | Imię i nazwisko;Telefon | Łukasz Wiśniewski;22 123 45 67;48221234567 | Zofia Dąbrowska;22 123 45 68;48221234568
CZ windows-1250 | Jméno;Telefon | Tomáš Dvořák;221 234 567;420221234567 | Jiří Růžička;221 234 568;420221234568
HU windows-1250 | Név;Telefonszám | Kovács Gergő;06 1 234 5678;3612345678 | Szűcs Ödön;06 1 234 5679;3612345679
RU windows-1251 | ФИО;Телефон | Иванов Пётр;8 (495) 123-45-67;74951234567 | Щукина Юлия;8 (495) 123-45-68;74951234568
UA windows-1251 | Ім'я;Телефон | Олена Їжак;044 123 4567;380441234567
GR windows-1253 | name;Τηλέφωνο | Γιώργος Παπαδόπουλος;210 123 4567;302101234567
TR windows-1254 | Ad Soyad;Telefon | Ayşe Yılmaz;0212 123 45 67;902121234567 | Çağrı Işık;0212 123 45 68;902121234568
IL windows-1255 | שם;טלפון | יוסף כהן;02-123-4567;97221234567
EG windows-1256 | الاسم;الهاتف | محمد علي;02 23456789;20223456789
LT windows-1257 | name;Telefonas | Žydrūnas Šimkus;+370 5 212 3456;37052123456
TH windows-874 | name;โทรศัพท์ | สมชาย ใจดี;02 123 4567;6621234567
JP shift_jis | 氏名;電話番号 | 山田太郎;03-1234-5678;81312345678 | 鈴木花子;03-1234-5679;81312345679
CN gb18030 | 姓名;电话 | 王小明;010 1234 5678;861012345678
TW big5 | 姓名;電話 | 陳小明;02 2345 6789;886223456789 | 林淑芬;02 2345 6780;886223456780
KR euc-kr | 이름;전화번호 | 김민수;02-123-4567;8221234567 | 박지영;02-123-4568;8221234568
`
  .trim()
  .split('\n')
  .map((line) => {
    const [place = '', titles = '', ...rows] = line.split(' | ');
    const [defaultCountry, written] = place.split(' ');
    const cells = rows.map((row) => row.split(';'));
    const text = [titles, ...cells.map(([name, phone]) => `${name};${phone}`)].join('\r\n');
    const people = cells.map(([name, , number]) => `${number} ${name}`);
    return csv(`Excel's CSV in ${place}`, text, people, { written: written!, defaultCountry });
  });

const US = { defaultCountry: 'US' };
const TEXTS: ForeignFile[] = [
  csv('Excel\'s "CSV UTF-8"', 'name,phone\r\nZoë 日本,(415) 555-0100\r\n', ['14155550100 Zoë 日本'], {
    ...US,
    addBOM: true,
  }),
  csv('Excel\'s "Unicode Text"', 'name\tphone\r\nZoë 日本\t(415) 555-0100\r\n', ['14155550100 Zoë 日本'], {
    ...US,
    written: 'utf-16le',
    addBOM: true,
  }),
  csv(
    'LibreOffice, quoted throughout',
    '"name","phone"\n"Ana ""A"" Ruiz","(415) 555-0100"\n',
    ['14155550100 Ana "A" Ruiz'],
    US,
  ),
  csv(
    'LibreOffice in ISO-8859-2',
    'Imię i nazwisko;Telefon\nŁukasz Wiśniewski;22 123 45 67\nŻaneta Śliwa;22 123 45 68\n',
    ['48221234567 Łukasz Wiśniewski', '48221234568 Żaneta Śliwa'],
    { written: 'iso-8859-2', defaultCountry: 'PL' },
  ),
  csv(
    'a Mac of old',
    'name;Telefon\rJürgen Groß;030 901820\rBjörn Schäfer;030 901821\r',
    ['4930901820 Jürgen Groß', '4930901821 Björn Schäfer'],
    { written: 'macintosh', defaultCountry: 'DE' },
  ),
  csv('a Linux in KOI8-R', 'ФИО;Телефон\nИванов Пётр;8 495 123-45-67\n', ['74951234567 Иванов Пётр'], {
    written: 'koi8-r',
    defaultCountry: 'RU',
  }),
  csv(
    '1C in the code page of DOS',
    'ФИО;Телефон\nИванов Пётр;8 495 123-45-67\nЩукина Юлия;8 495 123-45-68\n',
    ['74951234567 Иванов Пётр', '74951234568 Щукина Юлия'],
    { written: 'cp866', defaultCountry: 'RU' },
  ),
  csv('a program that names its delimiter', 'sep=;\nname;phone\nAna;+14155550100\n', ['14155550100 Ana']),
  csv('a database, by tabs', 'name\tphone\nAna\t+14155550100\n', ['14155550100 Ana']),
  csv('a database, by bars', 'name|phone\nAna|+14155550100\n', ['14155550100 Ana']),
  csv(
    'a shop with inches',
    'phone,size,name\n+14155550100," wide,Ana\n+14155550101,wide 5",Ben\n+14155550102,7" screen,Cy\n',
    ['14155550101 Ben', '14155550102 Cy'],
    { leftOut: [2] },
  ),
  csv(
    'a shop with a ditto',
    'phone,size,name\n+14155550100,",Ana\n+14155550101,",Ben\n+14155550102,x,Cy\n',
    ['14155550102 Cy'],
    { leftOut: [2, 3] },
  ),
  csv('a form with notes of several lines', 'phone,name,note\n+14155550100,Ana,"call\nin the morning, please"\n', [
    '14155550100 Ana',
  ]),
  csv(
    'a form with a note that names somebody else',
    'name,phone,note\nAna,+14155550100,"call\nMom, (415) 555-0101, in the morning"\n',
    ['14155550100 Ana'],
    US,
  ),
  csv('nobody, with columns that are said', 'Wer;Kontakt\nAna;+14155550100\n', ['14155550100 Ana'], {
    phoneColumns: ['Kontakt'],
    nameColumns: ['Wer'],
  }),
];

const header = (titles: string, row: string): string => `${titles}\n${row}\n`;
const PROGRAMS: ForeignFile[] = [
  csv(
    'Google Contacts',
    header(
      'First Name,Last Name,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value',
      'Ana,Ruiz,Mobile,+1 415-555-0100 ::: +1 415-555-0101,,',
    ),
    ['14155550100 Ana Ruiz'],
  ),
  csv(
    'Google Contacts of old',
    header(
      'Name,Given Name,Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value',
      'Ana Ruiz,Ana,Home,,Mobile,+1 415-555-0101',
    ),
    ['14155550101 Ana Ruiz'],
  ),
  csv(
    'HubSpot',
    header(
      'Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Mobile Phone Number',
      '1,Ana,Ruiz,a@example.com,,Bo,+14155550102',
    ),
    ['14155550102 Ana Ruiz'],
  ),
  csv(
    'Salesforce',
    header(
      'Id,AccountId,LastName,FirstName,Phone,MobilePhone,AssistantPhone',
      '1,2,Ruiz,Ana,,,(415) 555-0109\n1,2,Ito,Ben,(415) 555-0103,,',
    ),
    ['14155550103 Ben Ito'],
    { ...US, leftOut: [2] },
  ),
  csv(
    'Pipedrive',
    header(
      'Person - Name,Person - Organization,Person - Phone - Work,Person - Phone - Mobile',
      'Ana Ruiz,ACME,+14155550104,',
    ),
    ['14155550104 Ana Ruiz'],
  ),
  csv(
    'Outlook',
    header(
      "First Name,Middle Name,Last Name,Assistant's Phone,Business Fax,Business Phone,Home Phone,Mobile Phone",
      'Ana,B,Ruiz,(415) 555-0108,,,,(415) 555-0105',
    ),
    ['14155550105 Ana B Ruiz'],
    US,
  ),
  csv(
    'Zoho',
    header(
      'Record Id,Contact Owner,First Name,Last Name,Full Name,Phone,Mobile',
      'zcrm_1,Bo,Ana,Ruiz,Ana Ruiz,,+14155550106',
    ),
    ['14155550106 Ana Ruiz'],
  ),
];

interface BookOptions extends sheetjs.WritingOptions {
  /** How the first cell of the last row is shown. */
  shown?: string;
}

const workbook = (rows: unknown[][], { shown, ...options }: BookOptions = {}) => {
  const sheet = sheetjs.utils.aoa_to_sheet(rows);
  if (shown) sheet[`A${rows.length}`].z = shown;
  const book = sheetjs.utils.book_new();
  sheetjs.utils.book_append_sheet(book, sheet, 'People');
  return new Uint8Array(sheetjs.write(book, { type: 'buffer', bookType: 'xlsx', ...options }));
};
const ANA = [
  ['name', 'phone'],
  ['Łucja 日本', '+14155550100'],
];
const LUCJA = ['14155550100 Łucja 日本'];
const WORKBOOKS: ForeignFile[] = [
  { name: 'an Excel workbook', bytes: workbook(ANA), people: LUCJA },
  { name: 'a workbook that is packed', bytes: workbook(ANA, { compression: true }), people: LUCJA },
  { name: 'a workbook whose texts are shared', bytes: workbook(ANA, { bookSST: true }), people: LUCJA },
  { name: 'a workbook of numbers', bytes: workbook([['phone'], [4155550100]]), options: US, people: ['14155550100'] },
  {
    name: 'a workbook of numbers as powers of ten',
    bytes: workbook([['phone'], [14155550100]], { shown: '0.00E+00' }),
    options: US,
    people: ['14155550100'],
  },
  {
    name: 'a workbook with zeros by its format',
    bytes: workbook([['Telefon'], [30901820]], { shown: '000000000' }),
    options: { defaultCountry: 'DE' },
    people: ['4930901820'],
  },
  {
    name: 'a workbook that shows brackets',
    bytes: workbook([['phone'], [4155550100]], { shown: '(000) 000-0000' }),
    options: US,
    people: ['14155550100'],
  },
  {
    name: 'a workbook of amounts',
    bytes: workbook([['phone'], [4155550100]], { shown: '_-* #,##0.00_-' }),
    options: US,
    people: ['14155550100'],
  },
  {
    name: 'a workbook with blank rows',
    bytes: workbook([['phone'], [], [null], ['+14155550100']]),
    people: ['14155550100'],
  },
  {
    name: 'a workbook whose phone is a date',
    bytes: workbook([['phone'], ['+14155550100'], [46000]], { shown: 'yyyy-mm-dd' }),
    people: ['14155550100'],
    leftOut: [3],
  },
];

const refused = (name: string, bytes: Uint8Array | string, words: RegExp): ForeignFile => ({
  name,
  bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
  refused: words,
});
const REFUSED: ForeignFile[] = [
  refused('an .xls', workbook(ANA, { bookType: 'biff8' }), /old Excel workbook \(\.xls\).*Save it as \.xlsx/),
  refused('an .xlsb', workbook(ANA, { bookType: 'xlsb' }), /\.xlsb.*Save it as \.xlsx or CSV/),
  refused('an .ods', workbook(ANA, { bookType: 'ods' }), /OpenDocument.*Save it as \.xlsx or CSV/),
  refused('XML of Excel 2003', workbook(ANA, { bookType: 'xlml' }), /XML.*save it as \.xlsx or CSV/),
  refused('HTML that is called .xls', workbook(ANA, { bookType: 'html' }), /web page \(HTML\)/),
  refused('a page that asks to sign in', '<!DOCTYPE html>\n<html><body>Sign in</body></html>', /web page \(HTML\)/),
  refused('JSON, a list', '[\n  {"phone": "+14155550100"}\n]', /JSON, not CSV/),
  refused('JSON, an object', '{"contacts": [{"phone": "+14155550100"}]}', /JSON, not CSV/),
  refused('vCards', 'BEGIN:VCARD\nVERSION:3.0\nTEL:+14155550100\nEND:VCARD\n', /vCards, not CSV/),
  refused('a PDF', '%PDF-1.7\n', /PDF/),
  refused('a gzip file', gzipSync('phone\n+14155550100\n'), /gzip/),
  refused('nothing', '', /empty/),
  refused('a picture', Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]), /not a text file/),
  refused('a workbook that was cut', workbook(ANA).subarray(0, 2000), /workbook is broken/),
  refused('rows without a header', '+14155550100,Ana\n+14155550101,Ben\n', /first row has to name the columns/),
  refused('columns that nobody knows', 'Wer,Was\nAna,x\n', /phoneColumns/),
  refused(
    'one word in two readings',
    iconv.encode('name;phone\nPatanè;+14155550100\n', 'windows-1252'),
    /“Patanč” in windows-1250.*“Patanè” in windows-1252/,
  ),
  refused(
    'the code page of DOS for the west',
    iconv.encode('Nombre;Teléfono\nMaría Núñez;+34910000001\n', 'cp850'),
    /doesn't say in which code page/,
  ),
];

export const FOREIGN_FILES: readonly ForeignFile[] = [...CODE_PAGES, ...TEXTS, ...PROGRAMS, ...WORKBOOKS, ...REFUSED];
